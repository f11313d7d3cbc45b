/**
 * The names of the lists that a hybrid search puts together. A list by vectors has the name of its embedder's provider.
 */

/** Ranked by BM25. */
export const keywordList = 'keyword'
/** Vectors by hashed words and parts of words. */
export const hashedList = 'lexical'
/** Vectors by the table of tokens. */
export const tokenList = 'static'
