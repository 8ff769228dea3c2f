// Replaces the root key while daemons run. Each step is a single commit, and the rows of
// `root_keys` say which steps are done. So a rotation that was killed continues where it was, and
// two rotations at once do the same work.
//
//   step      | what it does                                             | killed after it, the next run
//   ----------+----------------------------------------------------------+----------------------------------------
//   add       | finds a new key, or appends one to the file; records it  | finds this key, and makes no new key
//   wait      | every live daemon has the key (PostgreSQL)               | waits again
//   replace   | texts are encrypted with it from here on                 | encrypts the rest of the rows
//   encrypt   | 100 rows of a column have the new key                    | encrypts the rest of the rows
//   done      | no row needs an earlier key                              | begins a new rotation
import { type DaemonRow, selectDaemons } from '../access/admission/queries.ts';
import type { App } from '../core/app.ts';
import {
  deleteRootKey,
  insertRootKey,
  lockKeyInForce,
  type RootKeyRow,
  selectRootKeys,
  updateRootKey,
} from '../core/root-keys/queries.ts';
import { learnRootKeys } from '../core/root-keys/root-keys.ts';
import { ConflictError, InternalError } from '../platform/errors.ts';
import { isoTime, sleep } from '../platform/runtime/clock.ts';
import { keyBytes } from '../platform/runtime/key-ring.ts';
import type { Db } from '../platform/store/db.ts';
import { isDaemonRunning, storeLocation } from '../platform/store/open.ts';
import { type EncryptedColumn, encryptedColumns } from './encrypted-columns.ts';
import { hasStaleText, lockStaleTexts, setText } from './queries.ts';

const rowsAtOnce = 100;
/**
 * Time from the commit of a new key to the first token with this key. Daemons read the key within
 * seconds. The time is longer, because a daemon that read the key late would compose a mail again
 * with a different token.
 */
const leadMs = 30_000;
const lookMs = 500;
/** Silence after which a daemon counts as stopped; longer than `silentMs` of peers.ts. */
const silentMs = 11_000;
const longestWaitMs = 30_000;

/** Name of a committed step; the head of the file explains the steps. */
export type RotationStep = 'add' | 'wait' | 'replace' | 'encrypt' | 'done';

export interface Rotated {
  /** Id of the key in force. */
  key: string;
  /** Id of the replaced key. */
  replaced: string | null;
  /** Number of texts that this call encrypted again. */
  rows: number;
  /** True if this call continued an earlier rotation. */
  wasResumed: boolean;
}

/**
 * Replaces the root key, or ends a rotation that was killed.
 * @throws ConfigError if this process has no new key, and cannot write the source of the keys;
 * ConflictError if a daemon lacks the new key
 */
export async function rotateRootKey(
  app: App,
  tell: (step: RotationStep, rows: number) => void | Promise<void> = () => {},
): Promise<Rotated> {
  const wasResumed = (await selectRootKeys(app.store.db)).some(
    ({ used_from, rows_done_at }) => used_from !== null && rows_done_at === null,
  );
  if (!wasResumed) {
    refuseUnreachable(app);
    const added = await app.store.write((trx) => addKey(app, trx), 'now');
    await tell('add', 0);
    await waitForDaemons(app, added);
    await tell('wait', 0);
    await app.store.write((trx) => replaceKey(app, trx, added), 'now');
    await tell('replace', 0);
  }
  await learnRootKeys(app);
  const rows = await encryptAll(app, tell);
  const used = await finish(app);
  await tell('done', rows);
  return {
    key: used.at(-1)?.id ?? '',
    replaced: used.at(-2)?.id ?? null,
    rows,
    wasResumed,
  };
}

/**
 * Refuses on SQLite if keys come from the environment and a daemon may run: a running daemon cannot
 * read a new key from there.
 */
function refuseUnreachable({ store, secrets, config }: App): void {
  if (store.kind !== 'sqlite' || secrets.source.file !== null) return;
  if (isDaemonRunning(storeLocation(config.database.url, config.dataDir)) === false) return;
  throw new ConflictError(
    'root key',
    `The root key comes from ${secrets.source.name}, and a daemon runs on this store: stop it, repeat this ` +
      'command, and start the daemon with the same keys',
  );
}

/**
 * Returns the id of the next key, which is added if necessary. Locks the key in force, so that
 * concurrent rotations add a single key.
 */
async function addKey({ secrets, random, clock }: App, trx: Db): Promise<string> {
  await lockKeyInForce(trx, 'update');
  secrets.reload();
  const rows = await selectRootKeys(trx);
  const waiting = rows.find(({ used_from }) => used_from === null);
  if (waiting && secrets.hasKey(waiting.id)) return waiting.id;
  // The file was restored after this key was added, so nothing has used the key.
  if (waiting) await deleteRootKey(trx, waiting.id);
  const isKnown = (id: string) => rows.some((row) => row.id === id && row !== waiting);
  if (secrets.keyIds.every(isKnown)) {
    secrets.source.add(random.bytes(keyBytes));
    secrets.reload();
  }
  const id = secrets.keyIds.findLast((one) => !isKnown(one)) ?? '';
  const row = { id, used_from: null, replaced_at: null, rows_done_at: null };
  await insertRootKey(trx, { ...row, added_at: clock.now() });
  return id;
}

/**
 * Waits until every daemon has reported the key or has stopped. Daemons on SQLite report nothing:
 * the only daemon reads the file again when it meets the new key.
 * @throws ConflictError after 30 s
 */
async function waitForDaemons({ store, clock, secrets }: App, key: string): Promise<void> {
  if (store.kind === 'sqlite') return;
  const begin = clock.elapsed();
  const first = new Map((await selectDaemons(store.db)).map(({ id, beats }) => [id, beats]));
  const isLive = ({ id, beats }: DaemonRow) => first.get(id) !== beats;
  for (;;) {
    const waitedMs = clock.elapsed() - begin;
    const lacking = (await selectDaemons(store.db)).filter(
      ({ root_keys }) => !root_keys?.split(' ').includes(key),
    );
    const left = waitedMs < silentMs ? lacking : lacking.filter(isLive);
    if (left.length === 0) return;
    if (waitedMs >= longestWaitMs) throw lacksKey(left, key, secrets.source.name);
    await sleep(clock, lookMs);
  }
}

function lacksKey(daemons: readonly DaemonRow[], key: string, source: string): ConflictError {
  const ids = daemons.map(({ id }) => id).join(', ');
  const isOld = daemons.some(({ root_keys }) => root_keys === null);
  const remedy = isOld
    ? 'upgrade the daemons of an earlier version first'
    : `let all daemons share one file, or give each the keys of ${source} and restart it`;
  return new ConflictError(
    'root key',
    `These daemons do not have the root key ${key}: ${ids}. Nothing has changed: ${remedy}, then repeat this command`,
  );
}

/** Puts the key in force `leadMs` from now, unless a different process has done so. */
async function replaceKey({ clock }: App, trx: Db, key: string): Promise<void> {
  const before = await lockKeyInForce(trx, 'update');
  if (!before || before.id === key) return;
  const last = (await selectRootKeys(trx)).find(({ id }) => id === before.id);
  const at = Math.max(clock.now() + leadMs, (last?.used_from ?? 0) + 1);
  await updateRootKey(trx, before.id, { replaced_at: at });
  await updateRootKey(trx, key, { used_from: at });
}

async function encryptAll(
  app: App,
  tell: (step: RotationStep, rows: number) => void | Promise<void>,
): Promise<number> {
  let rows = 0;
  for (const of of encryptedColumns) {
    for (let after: string | null = ''; after !== null; ) {
      const from: string = after;
      const done = await app.store.write((trx) => encryptSome(app, trx, of, from), 'now');
      after = done.length < rowsAtOnce ? null : (done.at(-1) ?? null);
      if (done.length === 0) continue;
      rows += done.length;
      await tell('encrypt', rows);
    }
  }
  return rows;
}

/** Encrypts a batch of texts with the key in force. Returns the ids of the rows. */
async function encryptSome(
  { secrets }: App,
  trx: Db,
  of: EncryptedColumn,
  after: string,
): Promise<string[]> {
  const prefix = secrets.prefixOf(secrets.keyInForce);
  const found = await lockStaleTexts(trx, of, { prefix, after, limit: rowsAtOnce });
  for (const { id, text } of found) {
    const context = of.contextOf(id);
    const renewed = secrets.encrypt(secrets.decrypt(text, context), context);
    await setText(trx, of, { id, text: renewed });
  }
  return found.map(({ id }) => id);
}

/**
 * Checks that no row needs an earlier key, and records this. Returns all keys that are or were in
 * force.
 */
async function finish({ store, secrets, clock }: App): Promise<RootKeyRow[]> {
  const prefix = secrets.prefixOf(secrets.keyInForce);
  return store.write(async (trx) => {
    for (const of of encryptedColumns) {
      if (!(await hasStaleText(trx, of, prefix))) continue;
      throw new InternalError(`${of.table}.${of.column} still needs an earlier root key`, 'store');
    }
    await updateRootKey(trx, secrets.keyInForce, { rows_done_at: clock.now() });
    return (await selectRootKeys(trx)).filter(({ used_from }) => used_from !== null);
  }, 'now');
}

/** A root key as `svc secret list` shows it. */
export interface ShownRootKey {
  id: string;
  /** `missing`: this process does not have the key. */
  status: 'added' | 'rotating' | 'in-force' | 'verifies' | 'missing';
  addedAt: string;
  /** Time from which a later key replaces this key for new tokens; null without a later key. */
  replacedAt: string | null;
}

/** Returns the root keys that the store knows, the newest first. */
export async function listRootKeys({ store, secrets }: App): Promise<ShownRootKey[]> {
  const rows = await selectRootKeys(store.db);
  return rows.reverse().map((row) => ({
    id: row.id,
    status: secrets.hasKey(row.id) ? statusOf(row) : 'missing',
    addedAt: isoTime(row.added_at),
    replacedAt: isoTime(row.replaced_at),
  }));
}

function statusOf({ used_from, replaced_at, rows_done_at }: RootKeyRow): ShownRootKey['status'] {
  if (used_from === null) return 'added';
  if (replaced_at !== null) return 'verifies';
  return rows_done_at === null ? 'rotating' : 'in-force';
}
