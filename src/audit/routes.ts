// The HTTP operation on the audit: an addition to the specification.
import { area } from '../api/area.ts';
import { listAudit } from './audit.ts';
import { auditPage, auditQuery } from './schema.ts';

const at = area('organization');

export const auditRoutes = {
  list: at.get('/v1/audit', {
    name: 'listAudit',
    summary: 'List the changes to an organization, newest first',
    description:
      'Lists changes to the organization, its keys, webhooks, domains, senders, blocks and ' +
      'mailboxes, by keys, by the operator and by the service itself.',
    query: auditQuery,
    output: auditPage,
    run: (app, { caller, query }) => listAudit(app, caller, query),
  }),
};
