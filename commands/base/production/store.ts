// The store that `svc init` makes: the setup of a daemon's first start, and the first domain.
import { lchownSync, statSync } from 'node:fs';
import type { App } from '../../../src/core/app.ts';
import type { LoadedConfig } from '../../../src/core/config/config.ts';
import type { Domain } from '../../../src/identity/domains/schema.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import { handOver } from '../account/account.ts';
import { dnsRecordCard, uncheckedNote } from '../input/fields.ts';
import { runRoute } from '../route.ts';
import { asUnreachable } from '../session.ts';
import { inContext } from '../store-place.ts';

export interface Made {
  created: boolean;
  store: string;
  /** Path of the file with the root key; null if the key comes from the configuration. */
  secret: string | null;
  file: string | null;
  apiKey: string | null;
}

/**
 * Creates the store and the first content where they are missing. Leaves a store of an earlier
 * schema unchanged: the next daemon migrates it.
 * @throws UnreachableError if the store cannot be opened
 */
export async function makeStore(loaded: LoadedConfig): Promise<Made> {
  const { made, isEarlier } = await describeStore(loaded);
  if (isEarlier) return made;
  return withService(loaded, async (app) => ({ ...made, ...(await makeContent(app)) }));
}

/** Link by which a first owner accepts the invitation. */
interface OwnerLink {
  email: string;
  url: string;
  expiresAt: string;
}

export type MadeWithDomain = Made & { domain: Domain; owner: OwnerLink | null };

/**
 * Creates the store, the domain and the invitation of an owner where they are missing. Gives the
 * files to the owner of `dataDir`.
 * @throws UnreachableError if the store cannot be opened, or has an earlier schema
 */
export async function makeStoreWithDomain(
  loaded: LoadedConfig,
  name: string,
  owner: string | null,
): Promise<MadeWithDomain> {
  const { made, isEarlier } = await describeStore(loaded);
  try {
    return await withService(
      loaded,
      async (app) => ({
        ...made,
        ...(await makeContent(app)),
        domain: await addDomain(app, name),
        owner: owner === null ? null : await inviteOwner(app, owner),
      }),
      isEarlier,
    );
  } finally {
    giveAway(loaded, made.secret);
  }
}

async function describeStore(loaded: LoadedConfig): Promise<{ made: Made; isEarlier: boolean }> {
  const [{ secretFile }, stores] = await Promise.all([
    import('../../../src/platform/runtime/key-ring.ts'),
    import('../../../src/platform/store/open.ts'),
  ]);
  const { database, dataDir, secret: settings } = loaded.config;
  const store = stores.describeLocation(stores.storeLocation(database.url, dataDir));
  const secret = settings.key === null ? secretFile(dataDir, settings) : null;
  const isEarlier = await stores.isStoreEarlier(database, dataDir).catch(failure(loaded));
  return { made: { created: false, store, secret, file: loaded.file, apiKey: null }, isEarlier };
}

const failure = (loaded: LoadedConfig) => async (error: unknown) => {
  throw asUnreachable(await inContext(error, loaded));
};

async function makeContent(app: App): Promise<Pick<Made, 'created' | 'apiKey'>> {
  const { firstStart } = await import('../../../src/service/first-start.ts');
  const first = await firstStart(app);
  return { created: first !== null, apiKey: first?.apiKey ?? null };
}

async function withService<T>(
  loaded: LoadedConfig,
  work: (app: App) => Promise<T>,
  mustExist = false,
): Promise<T> {
  const [{ openService }, { createLogger }] = await Promise.all([
    import('../../../src/service/service.ts'),
    import('../../../src/platform/runtime/log.ts'),
  ]);
  const log = await createLogger({ level: 'silent', pretty: false });
  const app = await openService(loaded.config, log, { mustExist }).catch(failure(loaded));
  return work(app).finally(() => app.close());
}

/** Returns the added domain, or the existing domain of the first organization with this name. */
async function addDomain(app: App, name: string): Promise<Domain> {
  const [{ domainRoutes }, { operatorOf }, { organizationIdFrom }] = await Promise.all([
    import('../../../src/identity/domains/routes.ts'),
    import('../../../src/access/keys/roles.ts'),
    import('../nouns/organization-id.ts'),
  ]);
  const caller = operatorOf(await organizationIdFrom(app, undefined));
  try {
    return await runRoute(app, caller, domainRoutes.add, { body: { domain: name } });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const { findSendingDomain } = await import('../../../src/identity/domains/queries.ts');
    const found = await findSendingDomain(app.store.db, caller.organizationId, name);
    if (!found) throw error;
    return runRoute(app, caller, domainRoutes.get, { params: { id: found.id } });
  }
}

/**
 * Invites an owner to the first organization, without a mail. Returns a link: it accepts the
 * invitation, or signs in if the address belongs to a member already.
 */
async function inviteOwner(app: App, email: string): Promise<OwnerLink> {
  const [{ memberRoutes }, { makeLinkFor }, { operatorOf }, { organizationIdFrom }] =
    await Promise.all([
      import('../../../src/access/members/routes.ts'),
      import('../../../src/access/sessions/operator-link.ts'),
      import('../../../src/access/keys/roles.ts'),
      import('../nouns/organization-id.ts'),
    ]);
  const caller = operatorOf(await organizationIdFrom(app, undefined));
  const body = { email, role: 'owner', mail: false };
  try {
    await runRoute(app, caller, memberRoutes.create, { body });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
  return makeLinkFor(app, email);
}

/** Gives all files that root has made to the owner of `dataDir`, including a separate root key. */
function giveAway({ config }: LoadedConfig, secret: string | null): void {
  handOver(config.dataDir);
  const [owner, key] = [config.dataDir, secret].map(
    (path) => path && statSync(path, { throwIfNoEntry: false }),
  );
  if (secret === null || !owner || !key || process.getuid?.() !== 0 || key.uid !== 0) return;
  lchownSync(secret, owner.uid, owner.gid);
}

export function madeText({ created, store, secret, apiKey }: Made): string {
  if (!created) return `${store} exists already.`;
  const keep =
    secret === null ? '' : `\nand its secret ${secret}: keep a copy of that file elsewhere`;
  return `Created the store ${store}${keep}.

Your first API key, an owner's. It is shown only this once:

  ${apiKey}`;
}

/** Returns the link of a first owner; empty without an owner. */
export function ownerText(owner: OwnerLink | null): string {
  if (owner === null) return '';
  return `\n\n${owner.email} becomes an owner by this link, until ${owner.expiresAt}:\n\n  ${owner.url}`;
}

/** Returns the DNS records of the domain for the person who publishes them. */
export async function recordsText({ domain, dnsRecords }: Domain): Promise<string> {
  const { cards } = await import('../output/format.ts');
  return `Publish these DNS records of ${domain}:

${cards(dnsRecords, dnsRecordCard)}${uncheckedNote(dnsRecords, domain)}`;
}
