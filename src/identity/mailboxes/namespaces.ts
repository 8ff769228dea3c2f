// Namespaces: groups of mailboxes. The first namespace of an organization is the default for
// mailboxes.
import { type Page, type PageRequest, toPage } from '../../core/api/pagination.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import * as queries from './queries.ts';
import type { CreateNamespace, Namespace } from './schema.ts';

/**
 * Returns the id of an organization's first namespace: `ns_` and the part of the organization's id
 * after `org_`.
 */
export function firstNamespaceId(organizationId: string): string {
  return `ns_${organizationId.slice('org_'.length)}`;
}

function toNamespace(row: queries.NamespaceRow): Namespace {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/** Stores the first namespace of a new organization. */
export async function storeFirstNamespace(app: App, trx: Db, organizationId: string) {
  const now = app.clock.now();
  await queries.namespaces.insert(trx, {
    id: firstNamespaceId(organizationId),
    organization_id: organizationId,
    name: 'default',
    created_at: now,
    updated_at: now,
  });
}

/** Returns a page of the organization's namespaces, newest first. */
export async function listNamespaces(
  app: App,
  { organizationId }: Caller,
  page: PageRequest,
): Promise<Page<Namespace>> {
  const { rows, total } = await queries.namespaces.page(app.store.db, organizationId, page);
  return toPage(rows.map(toNamespace), total, page);
}

/** Creates a namespace. @throws ConflictError if the organization already uses the name. */
export function createNamespace(
  app: App,
  caller: Caller,
  { name }: CreateNamespace,
): Promise<Namespace> {
  return app.store.write(async (trx) => {
    const now = app.clock.now();
    const row: queries.NamespaceRow = {
      id: app.newId('mailboxNamespace'),
      organization_id: caller.organizationId,
      name,
      created_at: now,
      updated_at: now,
    };
    if (!(await queries.namespaces.insert(trx, row, ['organization_id', 'name']))) {
      throw new ConflictError('namespace', `A namespace with the name ${name} exists already`);
    }
    const change = { subject: row.id, action: 'namespace.created', details: { name } } as const;
    await record(app, trx, caller, change);
    return toNamespace(row);
  });
}
