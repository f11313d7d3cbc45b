/** A page of events ends after this many characters, but has at least one event. */
export const eventPageCharacters = 4 * 1024 * 1024
