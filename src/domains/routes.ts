// The HTTP operations on sending domains (contract 6).
import { type Route, route } from '../api/route.ts';
import {
  addDomain,
  deleteDomain,
  getDomain,
  listDnsRecords,
  listDomains,
  rotateDkim,
} from './domains.ts';
import {
  addDomainInput,
  dnsRecordList,
  domainDeleted,
  domainOutput,
  domainPage,
  domainPath,
  listDomainsQuery,
} from './schema.ts';
import { verifyDomain } from './verification.ts';

const area = 'domains';

export const domainRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/email/domains',
    name: 'listDomains',
    summary: 'List sending domains, newest first',
    area,
    permission: 'domains:read',
    query: listDomainsQuery,
    status: 200,
    output: domainPage,
    run: (app, { caller, query }) => listDomains(app, caller, query),
  }),
  route({
    method: 'POST',
    path: '/v1/email/domains',
    name: 'addDomain',
    summary: 'Add a sending domain',
    description:
      'Makes its DKIM keys. Publish the required `dnsRecords`, then verify; it is also checked by schedule, soon at first.',
    area,
    permission: 'domains:write',
    body: addDomainInput,
    status: 201,
    output: domainOutput,
    errors: [409],
    run: (app, { caller, body }) => addDomain(app, caller, body),
  }),
  route({
    method: 'GET',
    path: '/v1/email/domains/{id}',
    name: 'getDomain',
    summary: 'Show a sending domain',
    area,
    permission: 'domains:read',
    params: domainPath,
    status: 200,
    output: domainOutput,
    run: (app, { caller, params }) => getDomain(app, caller, params.id),
  }),
  route({
    method: 'DELETE',
    path: '/v1/email/domains/{id}',
    name: 'deleteDomain',
    summary: 'Delete a sending domain',
    description:
      'Its keys are destroyed and its senders may not send any more. Mail that is queued still leaves, without a signature.',
    area,
    permission: 'domains:delete',
    params: domainPath,
    status: 200,
    output: domainDeleted,
    run: (app, { caller, params }) => deleteDomain(app, caller, params.id),
  }),
  route({
    method: 'POST',
    path: '/v1/email/domains/{id}/verify',
    name: 'verifyDomain',
    summary: 'Check the DNS records of a domain now',
    description:
      'Answers with the domain as it stands after the check, whether or not it is verified. `temporary-failure` says that DNS did not answer.',
    area,
    permission: 'domains:write',
    params: domainPath,
    status: 200,
    output: domainOutput,
    run: (app, { caller, params }) => verifyDomain(app, caller, params.id),
  }),
  route({
    method: 'GET',
    path: '/v1/email/domains/{id}/dns-records',
    name: 'listDnsRecords',
    summary: 'List the DNS records a domain needs, as last checked',
    area,
    permission: 'domains:read',
    params: domainPath,
    status: 200,
    output: dnsRecordList,
    run: (app, { caller, params }) => listDnsRecords(app, caller, params.id),
  }),
  route({
    method: 'POST',
    path: '/v1/email/domains/{id}/dkim/rotate',
    name: 'rotateDkim',
    summary: 'Make new DKIM keys for a domain',
    description:
      'The new keys are used once a check finds them in DNS; until then the old ones sign. Keep the old records for some days after that.',
    area,
    permission: 'domains:write',
    params: domainPath,
    status: 200,
    output: domainOutput,
    run: (app, { caller, params }) => rotateDkim(app, caller, params.id),
  }),
];
