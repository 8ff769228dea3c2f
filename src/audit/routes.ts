// The HTTP operation on the audit: an addition to the specification (issue 4, 7).
import { type Route, route } from '../api/route.ts';
import { listAudit } from './audit.ts';
import { auditPage, auditQuery } from './schema.ts';

export const auditRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/audit',
    name: 'listAudit',
    summary: 'List who changed what, newest first',
    description:
      'Changes of the organization, its keys, domains, senders, blocks and mailboxes, by keys, by ' +
      'the operator and by the service itself.',
    area: 'organization',
    permission: 'organization:read',
    query: auditQuery,
    status: 200,
    output: auditPage,
    run: (app, { caller, query }) => listAudit(app, caller, query),
  }),
];
