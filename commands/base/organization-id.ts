// An organization is named by its name, its id, or the ending of its id.
import type { App } from '../../src/core/app.ts';
import { ResourceNotFoundError } from '../../src/platform/errors.ts';

/** @throws ResourceNotFoundError */
export async function organizationIdFrom(app: App, named: string): Promise<string> {
  const { getOrganization } = await import('../../src/access/organizations/organizations.ts');
  try {
    return (await getOrganization(app, named)).id;
  } catch (error) {
    if (!(error instanceof ResourceNotFoundError)) throw error;
    const { wholeId } = await import('./whole-id.ts');
    const id = await wholeId(app, undefined, ['organization'], named);
    if (id === named) throw error;
    return id;
  }
}
