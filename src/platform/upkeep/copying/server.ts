// Functions that both directions of a copy need for PostgreSQL: they open a separate connection,
// and read a table in batches.
import pg from 'pg';
import { UnreachableError } from '../../errors.ts';
import { clientSettings, type DatabaseSettings } from '../../store/postgres/settings.ts';

/** Number of rows in a full batch. A smaller batch is the last. */
export const rowsAtOnce = 1_000;

/**
 * Opens a connection for a copy, around a pooler, because a copy needs a session. The caller ends
 * the connection.
 * @throws UnreachableError if the server cannot be reached
 */
export async function connectForCopy(database: DatabaseSettings): Promise<pg.Client> {
  const client = new pg.Client(clientSettings(database.listenUrl ?? database.url, database));
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end();
    throw new UnreachableError(`PostgreSQL cannot be reached: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * Reads a table by a cursor, some rows at a time, so that the table is never whole in memory. Needs
 * a transaction.
 */
export async function* batchesOf(
  client: pg.Client,
  table: string,
  columns: readonly string[],
): AsyncGenerator<unknown[][]> {
  const list = columns.map((column) => `"${column}"`).join(', ');
  await client.query(`declare copied no scroll cursor for select ${list} from "${table}"`);
  for (;;) {
    const { rows } = await client.query<unknown[]>({
      text: `fetch ${rowsAtOnce} from copied`,
      rowMode: 'array',
    });
    yield rows;
    if (rows.length < rowsAtOnce) break;
  }
  await client.query('close copied');
}
