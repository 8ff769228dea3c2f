// How commands name a resource: by the id, the last characters of the id, or `@last` for the newest
// resource of the kind. The schemas of a route mark the fields that are ids, so flags and `--data`
// accept the same forms.
import { mapIds } from '../../../src/core/api/resource-schema.ts';
import { parseWith, requestSchemas } from '../../../src/core/api/validate.ts';
import type { App } from '../../../src/core/app.ts';
import { ResourceNotFoundError, ValidationError } from '../../../src/platform/errors.ts';
import { type IdKind, prefixOf } from '../../../src/platform/runtime/ids.ts';
import type { IdsEnding } from '../../../src/platform/store/rows/ids-ending.ts';

const last = '@last';

/** The last 6 to 24 characters of an id: shorter endings would often fit several ids. */
const anEnding = /^[0-9a-hjkmnp-tv-z]{6,24}$/;

/** Tells whether a text may be the ending of an id. */
export function isEnding(text: string): boolean {
  return anEnding.test(text);
}

/** Most ids that the error about an ambiguous ending names. */
const mostNamed = 3;

type Where = 'body' | 'query' | 'path' | 'headers';

/** Searches for ids by ending, keyed by the prefix of the ids. The queries load on demand. */
const searches: Readonly<Record<string, () => Promise<IdsEnding>>> = {
  org: async () =>
    (await import('../../../src/access/organizations/queries.ts')).organizationIdsEnding,
  key: async () => (await import('../../../src/access/keys/queries.ts')).keys.idsEnding,
  mem: async () => (await import('../../../src/access/members/queries.ts')).members.idsEnding,
  wep: async () => (await import('../../../src/webhooks/endpoints/queries.ts')).endpoints.idsEnding,
  whdel: async () =>
    (await import('../../../src/webhooks/deliveries/list-queries.ts')).deliveryIdsEnding,
  dom: async () => (await import('../../../src/identity/domains/queries.ts')).domains.idsEnding,
  snd: async () => (await import('../../../src/identity/senders/queries.ts')).senders.idsEnding,
  mbx: async () => (await import('../../../src/identity/mailboxes/queries.ts')).mailboxes.idsEnding,
  mba: async () => (await import('../../../src/identity/mailboxes/queries.ts')).addressIdsEnding,
  ns: async () => (await import('../../../src/identity/mailboxes/queries.ts')).namespaces.idsEnding,
  rpl: async () =>
    (await import('../../../src/inbox/saved-replies/queries.ts')).savedReplies.idsEnding,
  blk: async () => (await import('../../../src/people/blocks/queries.ts')).blocks.idsEnding,
  contact: async () => (await import('../../../src/people/contacts/queries.ts')).contacts.idsEnding,
  grp: async () =>
    (await import('../../../src/people/contacts/groups/queries.ts')).contactGroups.idsEnding,
  usg: async () =>
    (await import('../../../src/people/unsubscribe-groups/queries.ts')).unsubscribeGroups.idsEnding,
  conv: async () =>
    (await import('../../../src/people/conversations/queries.ts')).conversations.idsEnding,
  tmpl: async () => (await import('../../../src/content/templates/queries.ts')).templates.idsEnding,
  tfam: async () => (await import('../../../src/content/families/queries.ts')).families.idsEnding,
  msg: async () => (await import('../../../src/outbound/messages/queries.ts')).messageIdsEnding,
  camp: async () => (await import('../../../src/campaigns/setup/queries.ts')).campaigns.idsEnding,
  run: async () => (await import('../../../src/run-ledger/queries.ts')).runs.idsEnding,
  ext: async () => (await import('../../../src/extensions/queries.ts')).extensions.idsEnding,
  exti: async () =>
    (await import('../../../src/extensions/installation-queries.ts')).installations.idsEnding,
  dlv: async () => (await import('../../../src/outbound/deliveries/queries.ts')).deliveryIdsEnding,
  hold: async () =>
    (await import('../../../src/outbound/deliveries/hold-queries.ts')).holdIdsEnding,
  thread: async () => (await import('../../../src/inbox/threads/queries.ts')).threads.idsEnding,
  note: async () =>
    (await import('../../../src/inbox/threads/marks/note-queries.ts')).notes.idsEnding,
  draft: async () =>
    (await import('../../../src/inbox/threads/drafts/draft-queries.ts')).drafts.idsEnding,
  act: async () => (await import('../../../src/inbox/approvals/queries.ts')).actions.idsEnding,
};

/** Prefixes of ids that can be completed. */
export const completedPrefixes = Object.keys(searches);

/** Finds up to three ids with this ending, the newest first. The empty ending fits every id. */
export type FindIds = (kind: IdKind, ending: string) => Promise<string[]>;

/**
 * Returns the search for ids in a store, in all organizations if `organizationId` is undefined. For
 * messages of an organization, the empty ending finds the latest sent message.
 */
export function idsInStore(app: App, organizationId: string | undefined): FindIds {
  return async (kind, ending) => {
    if (kind === 'message' && ending === '' && organizationId !== undefined) {
      const { lastSentId } = await import('../../../src/outbound/messages/messages.ts');
      return [await lastSentId(app, { organizationId })];
    }
    const search = searches[prefixOf(kind)];
    return search ? (await search())(app.store.db, organizationId, ending, mostNamed) : [];
  };
}

async function newestId(findIds: FindIds, kind: IdKind): Promise<string> {
  const [newest] = await findIds(kind, '');
  if (newest === undefined) throw new ResourceNotFoundError(wordFor(kind), last);
  return newest;
}

function wordFor(kind: IdKind): string {
  return typeof kind === 'object' && 'name' in kind ? String(kind.name) : String(kind);
}

/**
 * Returns the id for `@last` or the ending of an id, and prints it to standard error. Returns any
 * different text unchanged: the schema of the route checks it.
 * @throws ValidationError for the ending of several ids; ResourceNotFoundError
 */
export async function wholeId(
  findIds: FindIds,
  kinds: readonly IdKind[],
  typed: string,
): Promise<string> {
  const [kind] = kinds;
  if (kind === undefined || (typed !== last && !isEnding(typed))) return typed;
  const found =
    typed === last
      ? [await newestId(findIds, kind)]
      : await Promise.all(kinds.map((one) => findIds(one, typed)));
  const [id, ...others] = found.flat();
  if (id === undefined) throw new ResourceNotFoundError(wordFor(kind), typed);
  if (others.length > 0) {
    throw new ValidationError(
      `${typed} is the ending of several ids: ${[id, ...others].join(', ')}. Give more characters`,
    );
  }
  process.stderr.write(`took ${id} for ${typed}\n`);
  return id;
}

/** Returns `value` with complete ids in all fields that are ids in the schema. */
export function withWholeIds(
  findIds: FindIds,
  schema: Parameters<typeof mapIds>[0],
  value: unknown,
): Promise<unknown> {
  return mapIds(schema, value, (kinds, typed) => wholeId(findIds, kinds, typed));
}

/** Returns the parts of a request with complete ids. */
export async function wholeInput(
  findIds: FindIds,
  route: Parameters<typeof requestSchemas>[0],
  { params = {}, query = {}, body }: { params?: object; query?: object; body?: unknown },
) {
  const schemas = requestSchemas(route);
  return {
    params: (await withWholeIds(findIds, schemas.path, params)) as object,
    query: (await withWholeIds(findIds, schemas.query, query)) as object,
    body: (await withWholeIds(findIds, schemas.body, body)) as object,
  };
}

/**
 * Completes the ids in `value`, and parses it by the schema. @throws ValidationError;
 * ResourceNotFoundError for an unknown ending.
 */
export const parseTyped = async <Schema extends Parameters<typeof parseWith>[0]>(
  findIds: FindIds,
  schema: Schema,
  value: unknown,
  where: Where,
): Promise<ReturnType<typeof parseWith<Schema>>> =>
  parseWith(schema, await withWholeIds(findIds, schema, value), where);
