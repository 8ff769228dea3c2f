// Commands name an organization by name, id, or the ending of the id. Without a name they use the
// first organization. `default` also means the first organization, unless an organization has that
// name.
import type { App } from '../../../src/core/app.ts';
import { ResourceNotFoundError, UnreachableError } from '../../../src/platform/errors.ts';

/** @throws ResourceNotFoundError; UnreachableError without any organization */
export async function organizationIdFrom(app: App, named: string | undefined): Promise<string> {
  const { getOrganization } = await import('../../../src/access/organizations/organizations.ts');
  if (named === undefined) return firstId(app);
  try {
    return (await getOrganization(app, named)).id;
  } catch (error) {
    if (!(error instanceof ResourceNotFoundError)) throw error;
    if (named === 'default') return firstId(app);
    const { idsInStore, wholeId } = await import('../input/whole-id.ts');
    const id = await wholeId(idsInStore(app, undefined), ['organization'], named);
    if (id === named) throw error;
    return id;
  }
}

async function firstId({ store }: App): Promise<string> {
  const { findFirstOrganization } = await import('../../../src/access/organizations/queries.ts');
  const row = await findFirstOrganization(store.db);
  if (row) return row.id;
  const text = 'The store has no organization yet: run "svc init", or start the daemon';
  throw new UnreachableError(text);
}
