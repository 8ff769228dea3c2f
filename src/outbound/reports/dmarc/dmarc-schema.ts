// Schemas of DMARC reports: the query and the answer.
import { z } from 'zod';
import { pageOf, pageQuery, wholeNumber } from '../../../core/api/pagination.ts';

/** Days for which reports are stored, and the longest period of a query. */
export const mostDmarcDays = 90;

export const listDmarcReportsQuery = z.strictObject({
  ...pageQuery,
  days: wholeNumber(1, mostDmarcDays)
    .default(30)
    .meta({ description: `Number of days back: 30 (default), at most ${mostDmarcDays}` }),
});

const verdict = z.enum(['pass', 'fail']).nullable();

const dmarcReport = z
  .object({
    id: z.string().describe('Id of the report in this service'),
    domain: z.string().meta({ description: 'Domain of the applied policy' }),
    reporter: z.string().meta({ description: 'Receiver of the mail, as it names itself' }),
    reportId: z.string().describe('Id that the reporter gave'),
    beginsAt: z.string().describe('Beginning of the reported period'),
    endsAt: z.string().describe('End of the reported period'),
    messages: z.number().describe('Number of reported messages'),
    passed: z.number().meta({ description: 'Messages with an aligned pass of DKIM or SPF' }),
    failed: z.number().describe('Number of messages that failed DMARC'),
    sources: z
      .array(
        z.object({
          ip: z.string().describe('IP address of the sending host'),
          count: z.number().describe('Number of messages from this host'),
          disposition: z
            .enum(['none', 'quarantine', 'reject'])
            .nullable()
            .describe('Action of the receiver; null if not reported'),
          dkim: verdict.describe('DKIM result with alignment; null if not reported'),
          spf: verdict.describe('SPF result with alignment; null if not reported'),
          headerFrom: z
            .string()
            .nullable()
            .describe('Domain in the From field; null if not reported'),
        }),
      )
      .meta({ description: 'Sources, failing ones first, then by size; at most 200' }),
    createdAt: z.string().describe('Time at which the report arrived'),
  })
  .meta({ id: 'DmarcReport', description: 'Report of a receiver on mail in the name of a domain' });

export const dmarcReportPage = pageOf(dmarcReport).extend({
  daily: z
    .array(
      z.object({
        day: z.string().meta({ description: 'YYYY-MM-DD, UTC' }),
        messages: z.number().describe('Number of reported messages'),
        passed: z.number().describe('Number of messages that passed DMARC'),
        failed: z.number().describe('Number of messages that failed DMARC'),
      }),
    )
    .meta({
      description: 'Sums of all pages by day, oldest first; days without a report are left out',
    }),
});

export type DmarcReportQuery = z.output<typeof listDmarcReportsQuery>;
export type DmarcReportOutput = z.output<typeof dmarcReport>;
export type DmarcReportPage = z.output<typeof dmarcReportPage>;
