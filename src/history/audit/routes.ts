// The HTTP operation on the audit: an addition to the specification. daemon/http/routes.ts passes
// in the nouns, because higher folders declare them, and this folder may not import from there.
import { area } from '../../core/api/area.ts';
import type { Noun } from '../../core/api/noun.ts';
import { listAudit } from './audit.ts';
import { auditActions, auditPage, auditQuery } from './schema.ts';

const at = area('organization');

/** Returns the routes of a service with these nouns. */
export function auditRoutes(nouns: readonly Noun[]) {
  const actions = auditActions(nouns);
  return {
    list: at.get('/v1/audit', {
      name: 'listAudit',
      summary: 'List the changes to an organization, newest first',
      description:
        'Lists changes to the organization, its keys, webhooks, domains, senders, blocks and ' +
        'mailboxes, by keys, by the operator and by the service itself.',
      query: auditQuery(actions),
      output: auditPage(actions),
      run: (app, { caller, query }) => listAudit(app, caller, query),
    }),
  };
}
