// Adapter to acme-client: a function for each step of an order (RFC 8555 7.4). No function waits
// for progress at the authority. The store has accounts and their keys. Every failure is an
// AuthorityError.
import { generateKeyPairSync } from 'node:crypto';
import type { Client } from 'acme-client';
import type { App } from '../../../../core/app.ts';
import { holdRootKey } from '../../../../core/root-keys/root-keys.ts';
import { messageOf, ServiceError } from '../../../../platform/errors.ts';
import { findAccount, insertAccount, setAccountUrl } from '../queries.ts';
import {
  type AcmeAuthorization,
  type AcmeOrder,
  authorization as authorizationSchema,
  directory as directorySchema,
  order as orderSchema,
} from './acme-schema.ts';
import { type LibraryRequest, requesterOf } from './acme-transport.ts';
import { AuthorityError } from './authority-error.ts';

/** Challenge by which a host is validated. */
export interface Challenge {
  url: string;
  token: string;
  /** Content that the authority expects for the token: in a file, or in a TXT record. */
  value: string;
}

export interface Authority {
  /** Address of our account at the authority. */
  accountUrl: string;
  /** Names of the authority in CAA records. */
  caaIdentities: readonly string[];
  beginOrder(hostname: string): Promise<AcmeOrder>;
  findOrder(url: string): Promise<AcmeOrder>;
  /** Returns the open challenge. Null if the authority has validated the host already. */
  challengeOf(order: AcmeOrder): Promise<Challenge | null>;
  /** Tells the authority to validate the challenge. */
  answer(challenge: Pick<Challenge, 'url' | 'token'>): Promise<void>;
  /** Returns the reason for a failed validation, in the authority's words. */
  refusalOf(order: AcmeOrder): Promise<string>;
  finalize(order: AcmeOrder, hostname: string, keyPem: string): Promise<AcmeOrder>;
  /** Returns the issued certificate chain in PEM. */
  certificateOf(order: AcmeOrder): Promise<string>;
}

/** Loads acme-client at first use, because it takes 40 MB with all dependencies. */
async function loadLibrary(): Promise<typeof import('acme-client')> {
  const module = await import('acme-client');
  return module.default as unknown as typeof import('acme-client');
}

/** Creates a P-256 key in PEM, which every authority accepts. */
export function newKeyPem(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Returns the AES-GCM context that binds the encrypted key of an account to the directory. */
export function accountContext(directoryUrl: string): string {
  return `acmeAccount:${directoryUrl}`;
}

async function accountOf(app: App): Promise<{ url: string | null; keyPem: string }> {
  const { store, secrets, config, clock } = app;
  const { directoryUrl } = config.tracking.acme;
  const context = accountContext(directoryUrl);
  let row = await findAccount(store.db, directoryUrl);
  if (!row) {
    const keyPem = newKeyPem();
    await store.write(async (trx) => {
      await holdRootKey(app, trx);
      const private_key = secrets.encrypt(keyPem, context);
      const created_at = clock.now();
      await insertAccount(trx, { directory_url: directoryUrl, url: null, private_key, created_at });
    });
    // If two daemons create an account, the first account is kept.
    row = await findAccount(store.db, directoryUrl);
  }
  if (!row) throw new AuthorityError('unavailable', 'the account is missing from the store');
  return { url: row.url, keyPem: secrets.decrypt(row.private_key, context).toString('utf8') };
}

/**
 * Runs a step of an order and validates the result with `schema`.
 * @throws AuthorityError
 */
async function readWith<T>(
  schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
  step: () => Promise<unknown>,
): Promise<T> {
  const parsed = schema.safeParse(await readAuthority(step));
  if (parsed.success) return parsed.data;
  throw new AuthorityError('unreadable', 'the authority answered with something other than ACME');
}

/**
 * Turns errors of acme-client into AuthorityErrors: the library could not read an answer of the
 * authority.
 */
async function readAuthority<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof AuthorityError || error instanceof ServiceError) throw error;
    throw new AuthorityError('unreadable', `the authority: ${messageOf(error).slice(0, 300)}`);
  }
}

/** Registers the account. An authority that already knows the key returns the existing account. */
async function registered(app: App, client: Client, url: string | null): Promise<string> {
  if (url !== null) return url;
  const { email, directoryUrl } = app.config.tracking.acme;
  const contact = email === null ? {} : { contact: [`mailto:${email}`] };
  await readAuthority(() => client.createAccount({ termsOfServiceAgreed: true, ...contact }));
  const made = await readAuthority(async () => client.getAccountUrl());
  await app.store.write((trx) => setAccountUrl(trx, directoryUrl, made));
  return made;
}

/**
 * Opens the account at the configured authority for `work`; creates the account if it is missing.
 * @throws AuthorityError for every fault of the authority.
 */
export async function withAuthority<T>(
  app: App,
  signal: AbortSignal,
  work: (authority: Authority) => Promise<T>,
): Promise<T> {
  const acme = await loadLibrary();
  const account = await accountOf(app);
  const { directoryUrl } = app.config.tracking.acme;
  const client = new acme.Client({
    directoryUrl,
    accountKey: account.keyPem,
    ...(account.url !== null && { accountUrl: account.url }),
  });
  // The types of acme-client lack these fields: the sender of requests, and the directory that it
  // has read.
  const { http } = client as unknown as {
    http: { request: LibraryRequest; getDirectory(): Promise<unknown> };
  };
  http.request = requesterOf(app, signal);
  const { meta } = await readWith(directorySchema, () => http.getDirectory());
  const accountUrl = await registered(app, client, account.url);
  try {
    return await work(authorityOver(app, acme, client, accountUrl, meta?.caaIdentities ?? []));
  } catch (error) {
    if (error instanceof AuthorityError && error.problem === 'accountDoesNotExist') {
      await app.store.write((trx) => setAccountUrl(trx, directoryUrl, null));
    }
    throw error;
  }
}

function authorityOver(
  app: App,
  acme: typeof import('acme-client'),
  client: Client,
  accountUrl: string,
  caaIdentities: readonly string[],
): Authority {
  const kind = app.config.tracking.acme.challenge;
  type LibraryOrder = Awaited<ReturnType<Client['createOrder']>>;
  const asLibrary = (order: AcmeOrder | { url: string }) => order as unknown as LibraryOrder;
  const authorizations = (order: AcmeOrder): Promise<AcmeAuthorization[]> =>
    readWith(authorizationSchema.array(), () => client.getAuthorizations(asLibrary(order)));
  return {
    accountUrl,
    caaIdentities,
    beginOrder: (hostname) =>
      readWith(orderSchema, () =>
        client.createOrder({ identifiers: [{ type: 'dns', value: hostname }] }),
      ),
    findOrder: (url) => readWith(orderSchema, () => client.getOrder(asLibrary({ url }))),
    async challengeOf(order) {
      const open = (await authorizations(order)).find(({ status }) => status === 'pending');
      if (!open) return null;
      const challenge = open.challenges.find(({ type }) => type === kind);
      if (!challenge?.token) {
        throw new AuthorityError('refused', `the authority offers no challenge ${kind}`);
      }
      const { url, token } = challenge;
      type LibraryChallenge = Parameters<Client['getChallengeKeyAuthorization']>[0];
      const asked = { type: kind, url, token, status: 'pending' } as LibraryChallenge;
      return { url, token, value: await client.getChallengeKeyAuthorization(asked) };
    },
    async answer({ url, token }) {
      type LibraryChallenge = Parameters<Client['completeChallenge']>[0];
      const challenge = { type: kind, url, token, status: 'pending' } as LibraryChallenge;
      await readAuthority(() => client.completeChallenge(challenge));
    },
    async refusalOf(order) {
      const errors = (await authorizations(order)).flatMap(({ challenges }) =>
        challenges.flatMap(({ error }) => error?.detail ?? []),
      );
      return errors[0] ?? order.error?.detail ?? 'the authority gave no reason';
    },
    async finalize(order, hostname, keyPem) {
      const [, csr] = await readAuthority(() =>
        acme.crypto.createCsr({ altNames: [hostname] }, keyPem),
      );
      return readWith(orderSchema, () => client.finalizeOrder(asLibrary(order), csr));
    },
    async certificateOf(order) {
      return String(await readAuthority(() => client.getCertificate(asLibrary(order))));
    },
  };
}
