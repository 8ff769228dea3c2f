// Reads the rows of a query that may return many, a page at a time.

/** Reads page after page, each after the last row of the previous page, until a page is empty. */
export async function* rowsOfPages<Row>(
  read: (after: string) => Promise<Row[]>,
  keyOf: (row: Row) => string,
): AsyncGenerator<Row> {
  let page = await read('');
  while (page.length > 0) {
    yield* page;
    page = await read(keyOf(page.at(-1) as Row));
  }
}
