// A domain is named by its id or, as people do, by its name.
import { Args } from '@oclif/core';
import type { Caller } from '../../src/api/route.ts';
import type { App } from '../../src/app.ts';
import { ResourceNotFoundError } from '../../src/errors.ts';

/** The argument of commands on one domain. */
export const domainArg = {
  domain: Args.string({ description: 'Id (dom_…) or name of the domain', required: true }),
};

/** @throws ValidationError for neither an id nor a name; ResourceNotFoundError for an unknown name. */
export async function domainId(app: App, caller: Caller, idOrName: string): Promise<string> {
  const { domainPath, readDomainName } = await import('../../src/domains/schema.ts');
  const read = readDomainName(idOrName);
  if ('domain' in read) {
    const { findSendingDomain } = await import('../../src/domains/queries.ts');
    const found = await findSendingDomain(app.store.db, caller.organizationId, read.domain);
    if (!found) throw new ResourceNotFoundError('domain', idOrName);
    return found.id;
  }
  const { parseWith } = await import('../../src/api/validate.ts');
  return parseWith(domainPath, { id: idOrName }, 'path').id;
}
