// Domains in arguments: by id or name.
import { Args } from '@oclif/core';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';

/** The argument of commands on a single domain. */
export const domainArg = {
  domain: Args.string({ description: 'Id (dom_…) or name of the domain', required: true }),
};

/**
 * Returns the id of the named domain.
 * @throws ValidationError for a text that is neither an id nor a name; ResourceNotFoundError for an
 * unknown name.
 */
export async function domainId(app: App, caller: Caller, idOrName: string): Promise<string> {
  const { domainPath, readDomainName } = await import('../../../src/identity/domains/schema.ts');
  const read = readDomainName(idOrName);
  if ('domain' in read) {
    const { findSendingDomain } = await import('../../../src/identity/domains/queries.ts');
    const found = await findSendingDomain(app.store.db, caller.organizationId, read.domain);
    if (!found) throw new ResourceNotFoundError('domain', idOrName);
    return found.id;
  }
  const { parseTyped } = await import('../input/whole-id.ts');
  const path = { id: idOrName };
  return (await parseTyped(app, caller.organizationId, domainPath, path, 'path')).id;
}
