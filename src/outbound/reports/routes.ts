// The HTTP operations on reports about our sends.

import { area } from '../../core/api/area.ts';
import { domainPath } from '../../identity/domains/schema.ts';
import { listDmarcReports } from './dmarc/dmarc-reports.ts';
import { dmarcReportPage, listDmarcReportsQuery } from './dmarc/dmarc-schema.ts';

const at = area('domains');

export const reportRoutes = {
  listDmarc: at.get('/v1/email/domains/{id}/dmarc-reports', {
    name: 'listDmarcReports',
    summary: 'List the DMARC reports on a domain, newest first',
    description:
      'Each report shows mail in the name of the domain (RFC 7489), as a receiver counted ' +
      'it and sent it to the `rua` address of its DMARC record. Stored for 90 days.',
    params: domainPath,
    query: listDmarcReportsQuery,
    output: dmarcReportPage,
    run: (app, { caller, params: { id }, query }) => listDmarcReports(app, caller, id, query),
  }),
};
