// An organization is named by its name, its id, or the ending of its id. Without a name the first
// one is meant, and by `default` while no organization has that name.
import type { App } from '../../../src/core/app.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';

/** @throws ResourceNotFoundError */
export async function organizationIdFrom(app: App, named: string | undefined): Promise<string> {
  const { getFirstOrganization, getOrganization } = await import(
    '../../../src/access/organizations/organizations.ts'
  );
  const { db } = app.store;
  if (named === undefined) return (await getFirstOrganization(db)).id;
  try {
    return (await getOrganization(app, named)).id;
  } catch (error) {
    if (!(error instanceof ResourceNotFoundError)) throw error;
    if (named === 'default') return (await getFirstOrganization(db)).id;
    const { wholeId } = await import('../input/whole-id.ts');
    const id = await wholeId(app, undefined, ['organization'], named);
    if (id === named) throw error;
    return id;
  }
}
