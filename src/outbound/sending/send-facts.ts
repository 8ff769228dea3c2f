// Reads template, brand, sender and contact of sends that name a template. Sends in the same turn
// of the event loop share these reads. Compiled versions are cached, as they never change.
import type { BrandRow } from '../../content/brands/queries.ts';
import { findBrandForTemplate } from '../../content/brands/values.ts';
import type { CompiledTemplate } from '../../content/rendering/compiled.ts';
import {
  findCompiled,
  findTemplatesBySlugs,
  findTemplatesForSends,
} from '../../content/templates/queries.ts';
import { type ContactValues, findContactValues } from '../../content/templates/scope.ts';
import type { App } from '../../core/app.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { resolveSenders } from '../../identity/senders/resolve.ts';
import { findIdentitiesNamed } from '../../people/contacts/queries.ts';
import { ConflictError, ResourceNotFoundError, ServiceError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsedBytes } from '../../platform/runtime/recently-used.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { groupReads } from '../../platform/store/group.ts';
import type { SendPayload } from '../messages/send-schema.ts';

const mostPerRead = 128;
const mostVersions = 1_000;
const mostVersionBytes = 32 * 1024 * 1024;

interface PublishedVersion {
  id: string;
  version: number;
  /** Id of the version: equal keys have equal texts. */
  key: string;
  compiled: CompiledTemplate;
}

export interface SendFacts {
  template: PublishedVersion;
  brand: BrandRow | null;
  /** Values of the contact; null for several recipients, and for a recipient without a contact. */
  contact: ContactValues | null;
  sender: { email: string; name: string | null };
}

interface Asked {
  organizationId: string;
  payload: SendPayload;
}

/**
 * Reads the facts of a send that names a template.
 * @throws ResourceNotFoundError for an unknown template; ConflictError for an unpublished template
 */
export async function sendFacts(
  app: App,
  organizationId: string,
  payload: SendPayload,
): Promise<SendFacts> {
  const facts = await reader(app)({ organizationId, payload });
  if (facts instanceof ServiceError) throw facts;
  return facts;
}

const reader = perApp((app: App) =>
  groupReads(mostPerRead, (asked: readonly Asked[]) => readFacts(app, asked)),
);

const compiledVersions = perApp((_app: App) =>
  recentlyUsedBytes<Compiled>(mostVersions, mostVersionBytes, ({ bytes }) => bytes),
);

interface Compiled {
  compiled: CompiledTemplate;
  bytes: number;
}

async function readFacts(app: App, asked: readonly Asked[]): Promise<(SendFacts | ServiceError)[]> {
  const { db } = app.store;
  const templates = await readTemplates(app, db, asked);
  const brands = await readBrands(db, asked, templates);
  const contacts = await readContacts(db, asked);
  const senders = await resolveSenders(
    db,
    asked.map(({ organizationId, payload: { from } }) => ({ organizationId, from })),
    findHostedSender,
  );
  return asked.map((one, index) => {
    const template = templates(one);
    if (template instanceof ServiceError) return template;
    const sender = senders[index];
    const from = one.payload.from;
    // A sender that may not send is refused later, by the checks of the send.
    const isKnown = sender !== undefined && !(sender instanceof ServiceError);
    const { email, name = null } = isKnown
      ? sender
      : { email: from?.email ?? '', name: from?.name };
    return { template, brand: brands(one), contact: contacts(one), sender: { email, name } };
  });
}

/**
 * Reads the templates of sends. Returns a function from a send to the published version, or to the
 * error that refuses the send.
 */
async function readTemplates(
  app: App,
  db: Db,
  asked: readonly Asked[],
): Promise<(one: Asked) => PublishedVersion | ServiceError> {
  const ids = asked.flatMap(({ payload }) => payload.email.templateId ?? []);
  const named = asked.filter(({ payload }) => payload.email.templateSlug !== undefined);
  const found = [
    ...(ids.length > 0 ? await findTemplatesForSends(db, distinct(ids)) : []),
    ...(named.length > 0
      ? await findTemplatesBySlugs(
          db,
          distinct(named.map(({ organizationId }) => organizationId)),
          distinct(named.flatMap(({ payload }) => payload.email.templateSlug ?? [])),
        )
      : []),
  ];
  const compiled = await readCompiled(
    app,
    db,
    found.flatMap(({ version_id }) => version_id ?? []),
  );
  const byName = new Map(
    found.flatMap((row) => [
      [`${row.organization_id} ${row.id}`, row],
      [`${row.organization_id} ${row.slug}`, row],
    ]),
  );
  return ({ organizationId, payload: { email } }) => {
    const name = email.templateId ?? email.templateSlug ?? '';
    const row = byName.get(`${organizationId} ${name}`);
    if (!row) return new ResourceNotFoundError('template', name);
    const { id, status, version_id: key, version_number: version } = row;
    const texts = key === null ? undefined : compiled.get(key);
    if (status === 'published' && key !== null && version !== null && texts) {
      return { id, version, key, compiled: texts };
    }
    const advice = `publish it (\`svc templates publish ${row.slug}\`), or send another one`;
    const state = status === 'archived' ? 'archived' : 'not published';
    return new ConflictError('template', `${name} is ${state}: ${advice}`);
  };
}

async function readCompiled(
  app: App,
  db: Db,
  versionIds: readonly string[],
): Promise<Map<string, CompiledTemplate>> {
  const cached = compiledVersions(app);
  const known = new Map<string, CompiledTemplate>();
  const unknown: string[] = [];
  for (const id of distinct(versionIds)) {
    const one = cached.get(id);
    if (one) known.set(id, one.compiled);
    else unknown.push(id);
  }
  if (unknown.length === 0) return known;
  for (const { id, compiled: text } of await findCompiled(db, unknown)) {
    const compiled = fromJson<CompiledTemplate>(text);
    cached.set(id, { compiled, bytes: text.length });
    known.set(id, compiled);
  }
  return known;
}

/**
 * Reads the brands of templates, each once. Returns a function from a send to the brand, or null.
 */
async function readBrands(
  db: Db,
  asked: readonly Asked[],
  templates: (one: Asked) => PublishedVersion | ServiceError,
): Promise<(one: Asked) => BrandRow | null> {
  const found = new Map<string, BrandRow | null>();
  const slugOf = (one: Asked) => {
    const template = templates(one);
    return template instanceof ServiceError ? undefined : template.compiled.brand;
  };
  const nameOf = ({ organizationId }: Asked, slug: string | null) =>
    `${organizationId} ${slug ?? ''}`;
  for (const one of asked) {
    const slug = slugOf(one);
    if (slug === undefined || found.has(nameOf(one, slug))) continue;
    found.set(nameOf(one, slug), await findBrandForTemplate(db, one.organizationId, slug));
  }
  return (one) => found.get(nameOf(one, slugOf(one) ?? null)) ?? null;
}

/**
 * Reads the contacts of sends to a single recipient. Returns a function from a send to the values
 * of the contact, or null.
 */
async function readContacts(
  db: Db,
  asked: readonly Asked[],
): Promise<(one: Asked) => ContactValues | null> {
  const found = new Map<string, ContactValues>();
  const sole = asked.filter(({ payload }) => soleRecipient(payload) !== null);
  for (const [organizationId, own] of Map.groupBy(sole, (one) => one.organizationId)) {
    const recipients = own.flatMap(({ payload }) => soleRecipient(payload) ?? []);
    const addresses = recipients.flatMap(({ email }) => email ?? []).map(foldAddress);
    const identities =
      addresses.length > 0
        ? await findIdentitiesNamed(db, organizationId, distinct(addresses))
        : [];
    const ids = [
      ...recipients.flatMap(({ contactId }) => contactId ?? []),
      ...identities.map(({ contact_id }) => contact_id),
    ];
    if (ids.length === 0) continue;
    const values = await findContactValues(db, organizationId, distinct(ids));
    for (const [id, contact] of values) found.set(`${organizationId} ${id}`, contact);
    for (const { contact_id: id, folded_identifier: address } of identities) {
      const contact = values.get(id);
      if (contact) found.set(`${organizationId} ${address}`, contact);
    }
  }
  return ({ organizationId, payload }) => {
    const { email = '', contactId } = soleRecipient(payload) ?? {};
    return found.get(`${organizationId} ${contactId ?? foldAddress(email)}`) ?? null;
  };
}

/** Returns the only recipient of a message, or null. */
function soleRecipient({ to, cc = [], bcc = [] }: SendPayload): SendPayload['to'][number] | null {
  const [first, ...others] = [...to, ...cc, ...bcc];
  return first && others.length === 0 ? first : null;
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}
