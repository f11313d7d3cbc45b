/*
 * Lists of vectors. Each has a table `vec_…` of its own, which is made with the list. `vector_change` is written by triggers of
 * lists that servers have copies of: which generations have changed, in the order of the commits.
 */
export const vectorTables = `
CREATE TABLE vector_list (
  list_name text COLLATE "C" PRIMARY KEY,
  list_key int GENERATED ALWAYS AS IDENTITY UNIQUE,
  collection int,
  version int,
  dimensions int NOT NULL,
  form text COLLATE "C" NOT NULL CHECK (form IN ('halfvec', 'bytea')),
  changes bigint NOT NULL DEFAULT 0,
  index_claimed_at timestamptz
);

CREATE TABLE vector_change (
  list_key int NOT NULL,
  seq bigint NOT NULL,
  generation bigint NOT NULL,
  PRIMARY KEY (list_key, seq)
);
`
