// Domains in arguments: by id or name.
import { Args } from '@oclif/core';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import type { Session } from '../asking.ts';
import { findItem, itemsOf } from '../items.ts';

/** The argument of commands on a single domain. */
export const domainArg = {
  domain: Args.string({ description: 'Id (dom_…) or name of the domain', required: true }),
};

/**
 * Returns the id of the named domain.
 * @throws ValidationError for a text that is neither an id nor a name; ResourceNotFoundError for an
 * unknown name.
 */
export async function domainId(session: Session, idOrName: string): Promise<string> {
  const { domainPath, readDomainName } = await import('../../../src/identity/domains/schema.ts');
  const read = readDomainName(idOrName);
  if ('domain' in read) {
    const found = await findDomain(session, read.domain);
    if (!found) throw new ResourceNotFoundError('domain', idOrName);
    return found.id;
  }
  const { parseTyped } = await import('../input/whole-id.ts');
  const path = { id: idOrName };
  return (await parseTyped(session.findIds, domainPath, path, 'path')).id;
}

async function findDomain(session: Session, name: string): Promise<{ id: string } | undefined> {
  if (session.local) {
    const { app, caller } = session.local;
    const { findSendingDomain } = await import('../../../src/identity/domains/queries.ts');
    return findSendingDomain(app.store.db, caller.organizationId, name);
  }
  const { list } = (await import('../../../src/identity/domains/routes.ts')).domainRoutes;
  return findItem(itemsOf(session, list), ({ domain }) => domain === name);
}
