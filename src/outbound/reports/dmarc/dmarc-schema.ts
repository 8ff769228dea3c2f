// Output shapes of DMARC reports.
import { z } from 'zod';
import { pageOf, pageQuery, wholeNumber } from '../../../core/api/pagination.ts';

/** Days for which reports are kept, and so the most that a query may ask for. */
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
    id: z.string(),
    domain: z.string().meta({ description: 'Domain of the applied policy' }),
    reporter: z.string().meta({ description: 'Receiver of the mail, as it names itself' }),
    reportId: z.string(),
    beginsAt: z.string(),
    endsAt: z.string(),
    messages: z.number(),
    passed: z.number().meta({ description: 'Messages with an aligned pass of DKIM or SPF' }),
    failed: z.number(),
    sources: z
      .array(
        z.object({
          ip: z.string(),
          count: z.number(),
          disposition: z.enum(['none', 'quarantine', 'reject']).nullable(),
          dkim: verdict,
          spf: verdict,
          headerFrom: z.string().nullable(),
        }),
      )
      .meta({ description: 'Sources, failing ones first, then by size; at most 200' }),
    createdAt: z.string(),
  })
  .meta({ id: 'DmarcReport', description: 'Report of a receiver on mail in the name of a domain' });

export const dmarcReportPage = pageOf(dmarcReport).extend({
  daily: z
    .array(
      z.object({
        day: z.string().meta({ description: 'YYYY-MM-DD, UTC' }),
        messages: z.number(),
        passed: z.number(),
        failed: z.number(),
      }),
    )
    .meta({
      description: 'Sums of all pages by day, oldest first; days without a report are left out',
    }),
});

export type DmarcReportQuery = z.output<typeof listDmarcReportsQuery>;
export type DmarcReportOutput = z.output<typeof dmarcReport>;
export type DmarcReportPage = z.output<typeof dmarcReportPage>;
