import { expect, it } from 'vitest'
import { askedTitles, isAskedTitle } from '../../../src/core/text/asked-titles.ts'

it.each([
  ['How do I close the valve?', '## How do I close the valve'],
  ['how do i close the VALVE', '2.1 How do I close the valve?'],
  ['How do I close the valve?', 'Q: How do I close the valve?'],
  ['`mockPool.close([callback])`', 'mockPool.close([callback])'],
  ['What does “Opening hours” say?', 'Opening hours'],
  ['Wie schließe ich das Ventil?', 'Wie schließe ich das Ventil?'],
])('%j asks for the heading %j', (question, heading) => {
  expect(isAskedTitle(askedTitles(question), heading)).toBe(true)
})

it.each([
  ['How do I close the valve?', 'Close the valve'],
  ['How do I close the valve?', 'How do I close the valve and open it again?'],
  ['valve', 'Q valve'],
  ['3', '2 3'],
  ['?!', '…'],
  ['"?"', ''],
])('%j does not ask for the heading %j', (question, heading) => {
  expect(isAskedTitle(askedTitles(question), heading)).toBe(false)
})
