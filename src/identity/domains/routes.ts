// The HTTP operations on sending domains.
import { z } from 'zod';
import { area } from '../../core/api/area.ts';
import { pageOf } from '../../core/api/pagination.ts';
import { deleted } from '../../core/api/resource-schema.ts';
import { internalRoute } from '../../core/api/route.ts';
import { ConflictError } from '../../platform/errors.ts';
import { importDkim, rotateDkim } from './dkim-change.ts';
import { addDomain, deleteDomain, getDomain, listDnsRecords, listDomains } from './domains.ts';
import { endDomainLink, findDomainLink, makeDomainLink } from './links.ts';
import { getRegistrar } from './registrar/registrar.ts';
import {
  addDomainInput,
  dnsRecordList,
  domainOutput,
  importDkimInput,
  listDomainsQuery,
  domainPath as params,
  registrarOutput,
  rotateDkimInput,
} from './schema.ts';
import { verifyDomain } from './verification.ts';

const at = area('domains', { about: 'Sending domains, their DNS records and verification' });
const path = '/v1/email/domains';

export const domainRoutes = {
  list: at.get(path, {
    name: 'listDomains',
    summary: 'List sending domains, newest first',
    query: listDomainsQuery,
    output: pageOf(domainOutput),
    run: (app, { caller, query }) => listDomains(app, caller, query),
  }),
  add: at.post(path, {
    name: 'addDomain',
    summary: 'Add a sending domain',
    description:
      'Creates its DKIM keys. Publish the required `dnsRecords`, then verify the domain; ' +
      'it is also checked by schedule, soon at first.',
    body: addDomainInput,
    output: domainOutput,
    throws: [ConflictError],
    run: (app, { caller, body }) => addDomain(app, caller, body),
  }),
  get: at.get(`${path}/{id}`, {
    name: 'getDomain',
    summary: 'Show a sending domain',
    params,
    output: domainOutput,
    run: (app, { caller, params: { id } }) => getDomain(app, caller, id),
  }),
  delete: at.delete(`${path}/{id}`, {
    name: 'deleteDomain',
    summary: 'Delete a sending domain',
    description:
      'Its keys are destroyed, and its senders can no longer send. Queued mail still ' +
      'leaves, without a signature.',
    params,
    output: deleted,
    run: (app, { caller, params: { id } }) => deleteDomain(app, caller, id),
  }),
  verify: at.post(`${path}/{id}/verify`, {
    name: 'verifyDomain',
    summary: 'Check the DNS records of a domain now',
    description:
      'Answers with the domain after the check, whether or not it is verified. ' +
      '`temporary-failure` means that DNS did not answer.',
    params,
    output: domainOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id } }) => verifyDomain(app, caller, id),
  }),
  listDns: at.get(`${path}/{id}/dns-records`, {
    name: 'listDnsRecords',
    summary: 'List the DNS records of a domain, as last checked',
    params,
    output: dnsRecordList,
    run: (app, { caller, params: { id } }) => listDnsRecords(app, caller, id),
  }),
  getRegistrar: at.get(`${path}/{id}/registrar`, {
    name: 'getRegistrar',
    summary: 'Show the registrar of a domain, and where its records are edited',
    description:
      'RDAP names the registrar. The name servers name the DNS host, with a link to its page of records.',
    params,
    output: registrarOutput,
    run: (app, { caller, params: { id } }) => getRegistrar(app, caller, id),
  }),
  rotateDkim: at.post(`${path}/{id}/dkim/rotate`, {
    name: 'rotateDkim',
    summary: 'Create new DKIM keys for a domain',
    description:
      'The new keys are used once a check finds them in DNS; until then the old ones sign. The old ' +
      'records stay in `dnsRecords` for 7 days after that, with `keepUntil`.',
    params,
    body: rotateDkimInput,
    bodyOptional: true,
    output: domainOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => rotateDkim(app, caller, id, body),
  }),
  importDkim: at.post(`${path}/{id}/dkim/import`, {
    name: 'importDkim',
    summary: 'Import a DKIM key for a domain',
    description: 'The key is used once a check finds its record in DNS.',
    status: 200,
    params,
    body: importDkimInput,
    output: domainOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id }, body }) => importDkim(app, caller, id, body),
  }),
};

/** The link of a domain for a colleague, made and ended in the console. */
export const domainLinkRoutes = {
  find: internalRoute({
    name: 'domain link',
    permission: 'domains:read',
    params,
    run: (app, { caller, params: { id } }) => findDomainLink(app, caller, id),
  }),
  make: internalRoute({
    name: 'make domain link',
    permission: 'domains:write',
    params,
    body: z.strictObject({}),
    run: (app, { caller, params: { id } }) => makeDomainLink(app, caller, id),
  }),
  end: internalRoute({
    name: 'end domain link',
    permission: 'domains:write',
    params,
    body: z.strictObject({}),
    run: (app, { caller, params: { id } }) => endDomainLink(app, caller, id),
  }),
};
