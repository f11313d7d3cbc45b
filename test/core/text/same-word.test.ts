import { expect, it } from 'vitest'
import { sameWord } from '../../../src/core/text/same-word.ts'

it.each([
  ['retry', 'retries'],
  ['retry', 'retrying'],
  ['cache', 'cached'],
  ['install', 'installer'],
  ['config', 'configs'],
  ['configure', 'configurable'],
  ['embed', 'embedding'],
  ['log', 'logging'],
  ['secure', 'security'],
  ['bibliothek', 'bibliotheken'],
  ['öffnung', 'öffnungen'],
  ['fichier', 'fichiers'],
  ['сервер', 'сервера'],
])('takes %s and %s as forms of one word', (one, other) => {
  expect([sameWord(one, other), sameWord(other, one)]).toEqual([true, true])
})

it.each([
  ['time', 'timeout'],
  ['back', 'backup'],
  ['file', 'filename'],
  ['data', 'database'],
  ['code', 'codec'],
  ['host', 'hostname'],
  ['time', 'timezone'],
  ['make', 'makefile'],
  ['over', 'overlay'],
  ['cat', 'category'],
])('takes %s and %s as two words', (one, other) => {
  expect([sameWord(one, other), sameWord(other, one)]).toEqual([false, false])
})
