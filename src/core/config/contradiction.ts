// A mistake of two values that are valid alone.

/** Contradiction of the value at `path` with the value at `because`. */
export interface Contradiction {
  path: string;
  because: string;
  text: string;
}
