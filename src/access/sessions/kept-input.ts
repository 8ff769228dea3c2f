// The typed input of a form that needs a fresh proof, or that came after the end of the session.
// The row of the session keeps the input encrypted for ten minutes (sealed.ts).
import type { App } from '../../core/app.ts';
import { hashOfToken } from '../../platform/runtime/tokens.ts';
import type { Strength } from './proofs.ts';
import * as queries from './queries.ts';
import { seal, unseal } from './sealed.ts';

/** Time for which a form waits. */
export const keptMs = 10 * 60_000;
const mostCharacters = 65_536;
const purpose = 'kept input of a session';

/** A form that awaits a proof. */
export interface KeptInput {
  /** Organization in which the form was typed. */
  organizationId: string;
  /** Path of the page, below `/console`. */
  path: string;
  /** Query of the page. */
  search: string;
  fields: Readonly<Record<string, string>>;
  /**
   * Purpose of the proof as a phrase, such as `make this key`; empty for a form of an ended
   * session.
   */
  asks: string;
  /** Proofs that the action asks for. */
  strength: Strength;
}

/** A kept form and the time until which it waits, ms since 1970. */
export interface Waiting extends KeptInput {
  until: number;
}

/**
 * Keeps a form with the session for ten minutes. It replaces an earlier form. Returns false for a
 * form above 64 KB.
 */
export async function keepInput(app: App, token: string, input: KeptInput): Promise<boolean> {
  const text = JSON.stringify(input);
  if (text.length > mostCharacters) return false;
  const kept = { kept_input: seal(app.random, token, purpose, text), kept_at: app.clock.now() };
  await app.store.write((trx) => queries.updateSession(trx, hashOfToken(token), kept));
  return true;
}

/** Returns the form that a session keeps; null without a form, and after ten minutes. */
export async function findInput(app: App, token: string): Promise<Waiting | null> {
  const row = await queries.findSession(app.store.db, hashOfToken(token));
  if (!row?.kept_input || row.kept_at === null) return null;
  const until = row.kept_at + keptMs;
  if (until <= app.clock.now()) return null;
  return { ...(JSON.parse(unseal(token, purpose, row.kept_input)) as KeptInput), until };
}

/** Drops the form that a session keeps. Returns false if the session keeps no form. */
export async function dropInput(app: App, token: string): Promise<boolean> {
  return app.store.write((trx) => queries.dropInput(trx, hashOfToken(token)));
}

/**
 * Returns the organization of a session, even of a session that ended by time; null after signing
 * out, which deletes the row.
 */
export async function endedSession(app: App, token: string): Promise<string | null> {
  const row = await queries.findSession(app.store.db, hashOfToken(token));
  return row?.organization_id ?? null;
}

/**
 * Moves a form to the next session, if both sessions have the same person or key (or both are of
 * the operator) and the same organization. Returns whether the form was moved.
 */
export async function carryInput(app: App, from: string, to: string): Promise<boolean> {
  const { db } = app.store;
  const [before, after] = [
    await queries.findSession(db, hashOfToken(from)),
    await queries.findSession(db, hashOfToken(to)),
  ];
  const isSame =
    before && after && before.person_id === after.person_id && before.key_id === after.key_id;
  const input = isSame ? await findInput(app, from) : null;
  if (!input || input.organizationId !== after?.organization_id) return false;
  const { until: _, ...kept } = input;
  return keepInput(app, to, kept);
}
