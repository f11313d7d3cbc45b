/** Why a document can't be read, as the end of the sentence "… can't be read: ". */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

const maxCharacters = 50_000_000

/** Throws `Unreadable` for more characters of text than a document may have. */
export function assertLength(characters: number): void {
  if (characters > maxCharacters)
    throw new Unreadable(`it has more than ${maxCharacters / 1e6} million characters of text`)
}
