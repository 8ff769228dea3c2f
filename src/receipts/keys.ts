// The keys that sign heads. The first key is made at the first seal; the private half is stored
// encrypted.
import type { KeyObject } from 'node:crypto';
import type { App } from '../core/app.ts';
import { holdRootKey } from '../core/root-keys/root-keys.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { perApp } from '../platform/runtime/per-app.ts';
import { generateReceiptKey, keyIdOf, readPrivateKey } from './head.ts';
import { insertReceiptKey, type ReceiptKeyRow, selectReceiptKeys } from './queries.ts';

interface Signer {
  keyId: string;
  key: KeyObject;
}

/** Holds the signer of each app; null before the first read. */
const signers = perApp<App, { known: Signer | null }>(() => ({ known: null }));

/** Returns the context that binds an encrypted private key to the id of the key. */
export const contextOf = (id: string) => `receiptKey:${id}`;

function signerOf(app: App, { id, private_key }: ReceiptKeyRow): Signer {
  const key = app.secrets.decrypt(private_key, contextOf(id)).toString();
  return { keyId: id, key: readPrivateKey(key) };
}

async function makeKey(app: App): Promise<ReceiptKeyRow> {
  const { publicKey, privateKey } = generateReceiptKey();
  const id = keyIdOf(publicKey);
  return await app.store.write(async (trx) => {
    await holdRootKey(app, trx);
    const row = {
      id,
      public_key: publicKey,
      private_key: app.secrets.encrypt(privateKey, contextOf(id)),
      created_at: app.clock.now(),
    };
    await insertReceiptKey(trx, row);
    return row;
  }, 'now');
}

/**
 * Returns the key for new heads, and makes a key if the store has none. Two processes may each make
 * a key at the same time: signatures by both keys are valid.
 */
export async function findSigner(app: App): Promise<Signer> {
  const kept = signers(app);
  if (kept.known) return kept.known;
  const newest = (await selectReceiptKeys(app.store.db)).at(-1) ?? (await makeKey(app));
  kept.known = signerOf(app, newest);
  return kept.known;
}

/** Returns the private key that signed a head. @throws Error if the store lacks the key */
export async function getSigningKey(app: App, keyId: string): Promise<KeyObject> {
  const signer = await findSigner(app);
  if (signer.keyId === keyId) return signer.key;
  const row = (await selectReceiptKeys(app.store.db)).find(({ id }) => id === keyId);
  if (!row) throw new Error(`the key ${keyId} of a head is missing`);
  return signerOf(app, row).key;
}

/** A key as `/.well-known/svc-receipts.json` publishes it. */
export interface PublicKey {
  keyId: string;
  algorithm: 'Ed25519';
  /** Raw public key in base64. */
  publicKey: string;
  createdAt: string;
}

/** Returns the public halves of all keys, the newest last. */
export async function listPublicKeys(app: App): Promise<PublicKey[]> {
  const rows = await selectReceiptKeys(app.store.db);
  return rows.map(({ id, public_key, created_at }) => ({
    keyId: id,
    algorithm: 'Ed25519',
    publicKey: public_key,
    createdAt: isoTime(created_at),
  }));
}

/** Returns the raw public key of this id in base64; an empty text for an unknown id. */
export async function findPublicKey(app: App, keyId: string): Promise<string> {
  const rows = await selectReceiptKeys(app.store.db);
  return rows.find(({ id }) => id === keyId)?.public_key ?? '';
}
