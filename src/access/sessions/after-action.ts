// After an action of the console: a toast that the next page shows once, and a secret that is shown
// for ten minutes. Both lie sealed in the row of the session.
import type { App } from '../../core/app.ts';
import { hashOfToken, newToken } from '../../platform/runtime/tokens.ts';
import * as queries from './queries.ts';
import { seal, unseal } from './sealed.ts';

/** Time for which a secret can be seen. */
export const secretMs = 10 * 60_000;

/** A sentence about the action, and how to take it back. */
export interface Toast {
  said: string;
  undo?: {
    /** Path of the page, below `/console`. */
    path: string;
    action: string;
    fields: Readonly<Record<string, string>>;
  };
}

/** Values that the console can show only for ten minutes, such as the plaintext of a key. */
export interface Secret {
  title: string;
  fields: readonly { label: string; value: string }[];
}

const toastPurpose = 'toast of a session';
const secretPurpose = (id: string) => `secret of a session: ${id}`;

/** Keeps a toast for the next page of the session. */
export async function keepToast(app: App, token: string, toast: Toast): Promise<void> {
  const sealed = seal(app.random, token, toastPurpose, JSON.stringify(toast));
  await app.store.write((trx) => queries.updateSession(trx, hashOfToken(token), { toast: sealed }));
}

/** Returns and removes the toast of a session; null without a toast. */
export async function takeToast(app: App, token: string): Promise<Toast | null> {
  const hash = hashOfToken(token);
  const sealed = await app.store.write(async (trx) => {
    const row = await queries.findSession(trx, hash);
    if (row?.toast) await queries.updateSession(trx, hash, { toast: null });
    return row?.toast ?? null;
  }, 'quiet');
  return sealed === null ? null : (JSON.parse(unseal(token, toastPurpose, sealed)) as Toast);
}

/** Keeps a secret for ten minutes. It replaces an earlier secret. Returns the secret's id. */
export async function keepSecret(app: App, token: string, secret: Secret): Promise<string> {
  const id = newToken(app.random);
  const sealed = seal(app.random, token, secretPurpose(id), JSON.stringify(secret));
  const kept = { secret_id: hashOfToken(id), secret: sealed, secret_at: app.clock.now() };
  await app.store.write((trx) => queries.updateSession(trx, hashOfToken(token), kept));
  return id;
}

/** Returns the secret of an id; null for an unknown id, and after ten minutes. */
export async function findSecret(app: App, token: string, id: string): Promise<Secret | null> {
  const row = await queries.findSession(app.store.db, hashOfToken(token));
  if (!row?.secret || row.secret_at === null || row.secret_id !== hashOfToken(id)) return null;
  if (row.secret_at + secretMs <= app.clock.now()) return null;
  return JSON.parse(unseal(token, secretPurpose(id), row.secret)) as Secret;
}

/** Deletes the secret before its ten minutes are over, if the session still keeps it. */
export async function dropSecret(app: App, token: string, id: string): Promise<void> {
  await app.store.write((trx) => queries.dropSecret(trx, hashOfToken(token), hashOfToken(id)));
}
