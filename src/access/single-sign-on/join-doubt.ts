// Warns if the store lacks the organization `join.organization` of the configuration.
import type { App } from '../../core/app.ts';
import { findOrganization } from '../organizations/queries.ts';

/** Returns a warning if `join.organization` is unknown, as `only` then has no effect; else null. */
export async function joinDoubt({ config, store }: Pick<App, 'config' | 'store'>) {
  const { organization } = config.console.signIn.oidc.join;
  if (organization === null || (await findOrganization(store.db, organization))) return null;
  return (
    `console.signIn.oidc.join.organization is ${organization}, and the store has no such ` +
    'organization: nobody joins, and roles and only hold nowhere ("svc orgs list" has the ids)'
  );
}
