/** A page of events ends after so many characters, with one event at least. */
export const eventPageCharacters = 4 * 1024 * 1024
