// The HTTP operations on what came back for our sends.

import { type Route, route } from '../api/route.ts';
import { domainPath } from '../domains/schema.ts';
import { listDmarcReports } from './dmarc/dmarc-reports.ts';
import { dmarcReportPage, listDmarcReportsQuery } from './dmarc/dmarc-schema.ts';

export const reportRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/email/domains/{id}/dmarc-reports',
    name: 'listDmarcReports',
    summary: 'List the DMARC reports on a domain, newest first',
    description:
      'What receivers saw of mail in the name of the domain (RFC 7489), as they reported it to the `rua` address of its DMARC record. Kept for 90 days.',
    area: 'domains',
    permission: 'domains:read',
    params: domainPath,
    query: listDmarcReportsQuery,
    status: 200,
    output: dmarcReportPage,
    run: (app, { caller, params, query }) => listDmarcReports(app, caller, params.id, query),
  }),
];
