// Compares the root keys of this process with the store. The store names the key in force; the
// bytes of keys are in a file or in the environment (src/platform/runtime/key-ring.ts).
//
// A transaction that stores an encrypted text holds the shared lock of `holdRootKey`. A rotation
// locks exclusively to change the key, so no text of the earlier key is stored after that, even by
// a daemon that has not seen the change.
//
//   a key      | event                                              | then
//   -----------+----------------------------------------------------+------------------------------------
//   (none)     | the first text is stored, or the service is opened | in force
//   (none)     | `svc secret rotate` finds or makes it              | added: every daemon learns it
//   added      | every live daemon has it                           | in force, and the earlier is replaced
//   in force   | the next key is in force                           | replaced: verifies its own tokens
import { InternalError, messageOf, UnreachableError } from '../../platform/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { Db, Store } from '../../platform/store/db.ts';
import { insertRootKey, lockKeyInForce, type RootKeyRow, selectRootKeys } from './queries.ts';
import type { Secrets } from './secrets.ts';

/** The parts of App that these functions need. */
export interface KeyUser {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

/**
 * Sets in `secrets` the period in which each key was in force.
 * @throws UnreachableError if this process lacks a key that the store needs
 */
function learn({ secrets }: Pick<KeyUser, 'secrets'>, rows: readonly RootKeyRow[]): void {
  const used = rows.filter(({ used_from }) => used_from !== null);
  for (const id of neededKeys(used)) {
    if (!secrets.hasKey(id)) throw foreignKey(secrets, id);
  }
  secrets.learn(
    used.map(({ id, used_from, replaced_at }) => {
      return { id, from: used_from ?? 0, until: replaced_at };
    }),
  );
}

/** Returns the key in force, and the earlier keys that rows may still have. */
function neededKeys(used: readonly RootKeyRow[]): string[] {
  const done = used.findLastIndex(({ rows_done_at }) => rows_done_at !== null);
  return used.slice(Math.max(0, done)).map(({ id }) => id);
}

/** Returns the error that this process has different root keys than the store. */
export function foreignKey({ source }: Secrets, id: string | null): UnreachableError {
  const named = id === null ? '' : `. The store needs the root key ${id}`;
  const remedy =
    source.file === null
      ? 'give it the keys of the other daemons, separated by commas, the newest last'
      : 'copy that file from the machine that made the store, or that replaced its key';
  return new UnreachableError(`${source.name} is not the key of this store: ${remedy}${named}`);
}

/**
 * Reads from the store which keys were in force at which time.
 * @throws UnreachableError if this process lacks a key that the store needs
 */
export async function learnRootKeys(user: KeyUser): Promise<void> {
  learn(user, await selectRootKeys(user.store.db));
}

/** Records the first key of a store. */
async function insertFirst(
  { secrets, clock }: KeyUser,
  trx: Db,
  id = secrets.keyInForce,
): Promise<void> {
  const now = clock.now();
  await insertRootKey(trx, {
    id,
    added_at: now,
    used_from: 0,
    replaced_at: null,
    rows_done_at: now,
  });
}

/**
 * Records the key `first`, or else the newest key, in a store without a key, and learns which keys
 * are in force. @throws UnreachableError if this process lacks a key that the store needs
 */
export async function settleRootKeys(user: KeyUser, first?: string): Promise<void> {
  if ((await selectRootKeys(user.store.db)).length === 0) {
    await user.store.write((trx) => insertFirst(user, trx, first));
  }
  await learnRootKeys(user);
}

/**
 * Encrypts a text of an earlier key again, with the key in force. Returns a text of the key in
 * force unchanged.
 */
export type Renew = (text: string, context: string) => string;

/**
 * Keeps the root key in force until the transaction ends. Call it in each transaction that stores
 * encrypted texts, before encrypting. Pass texts that were encrypted earlier through the returned
 * function.
 * @throws InternalError if this process lacks the key in force
 */
export async function holdRootKey(user: KeyUser, trx: Db): Promise<Renew> {
  const { secrets } = user;
  let held = await lockKeyInForce(trx, 'share');
  if (!held) {
    // The store has no key yet, or a different key came into force while this call waited.
    await settleFirst(user, trx);
    held = await lockKeyInForce(trx, 'share');
  }
  if (held?.id !== secrets.keyInForce) {
    try {
      learn(user, await selectRootKeys(trx));
    } catch (error) {
      throw new InternalError(messageOf(error), 'store', { cause: error });
    }
  }
  return (text, context) =>
    secrets.isInForce(text) ? text : secrets.encrypt(secrets.decrypt(text, context), context);
}

async function settleFirst(user: KeyUser, trx: Db): Promise<void> {
  if ((await selectRootKeys(trx)).length === 0) await insertFirst(user, trx);
}

/** Least time between two reads of the keys by a process. */
const lookMs = 1_000;

/**
 * Reads new keys of other processes after commits, at most once a second. The returned function
 * stops the watch. `onTrouble` gets the errors of `learnRootKeys`.
 */
export function watchRootKeys(user: KeyUser, onTrouble: (error: unknown) => void): () => void {
  const { store, secrets, clock } = user;
  let cancel: (() => void) | null = null;
  let isOver = false;
  const look = async () => {
    try {
      const rows = await selectRootKeys(store.db);
      // `hasKey` also loads a key that is not yet in use, for which the rotation waits.
      for (const { id, replaced_at } of rows) if (replaced_at === null) secrets.hasKey(id);
      learn(user, rows);
    } catch (error) {
      onTrouble(error);
    }
  };
  const unsubscribe = store.onChange(() => {
    if (cancel || isOver) return;
    cancel = clock.after(lookMs, () => {
      cancel = null;
      void look();
    });
  });
  return () => {
    isOver = true;
    unsubscribe();
    cancel?.();
  };
}
