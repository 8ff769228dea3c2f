// Input and output shapes of usage and analytics (specification 2.16).
import { z } from 'zod';
import { wholeNumber } from '../../core/api/pagination.ts';
import { instant } from '../../core/api/resource-schema.ts';
import { breakdowns } from './queries.ts';

const mostDomains = 1_000;

const month = z
  .string()
  .regex(/^(current|(19|20)\d{2}-(0[1-9]|1[0-2]))$/, 'must be `current` or a month as YYYY-MM');

export const usageQuery = z.strictObject({
  period: month
    .nullable()
    .optional()
    .meta({ description: 'Month (UTC) as `YYYY-MM` (default: `current`)' }),
});

const date = z
  .union([z.iso.date(), instant], 'must be a day or an ISO 8601 instant')
  .nullable()
  .optional();

const dates = {
  startDate: date.meta({
    description:
      "A day in the organization's time zone, or an instant, rounded down to its hour. " +
      'Default: 30 days ago',
  }),
  endDate: date.meta({
    description: 'The last day (included whole), or an instant. Default: now',
  }),
};

export const channelStatsQuery = z.strictObject(dates);

export const timeseriesQuery = z.strictObject({
  ...dates,
  interval: z
    .enum(['day', 'hour'])
    .default('day')
    .meta({ description: 'At most 366 days, or 31 days by the hour' }),
});

export const domainStatsQuery = z.strictObject({
  ...dates,
  limit: wholeNumber(1, mostDomains)
    .default(100)
    .meta({ description: 'Number of domains, those with the most emails first' }),
});

export const breakdownQuery = z.strictObject({
  by: z.enum(breakdowns).meta({
    description: 'Rows of the answer; `domain` is of recipients',
    examples: ['campaign'],
  }),
  ...dates,
  format: z
    .enum(['json', 'csv'])
    .default('json')
    .meta({ description: 'csv: the same rows as CSV, with a line of names' }),
});

export const usageOutput = z
  .object({
    usage: z
      .object({
        periodStart: z.string().describe('First moment of the month (UTC)'),
        periodEnd: z.string().meta({ description: 'The first moment of the next month' }),
        emailCount: z.number().meta({ description: 'Accepted emails, one for each recipient' }),
        totalMessages: z.number().meta({ description: 'Messages accepted and received' }),
      })
      .describe('Mail of the month'),
    billing: z
      .object({
        currency: z.literal('USD').describe('Currency of the cost, ISO 4217'),
        planName: z.string().describe('Name of the plan'),
        includedEmails: z.number().nullable().meta({ description: 'Null: without end' }),
        usedEmails: z.number().describe('Accepted emails, one for each recipient'),
        overageEmails: z.number().describe('Emails beyond the included number'),
        overageCost: z.string().meta({
          description: 'With six decimals; `0` for a plan that includes emails without end',
        }),
      })
      .describe('Emails against the plan'),
  })
  .meta({ id: 'Usage', description: 'Emails of an organization in a month' });

const figures = {
  sent: z.number().meta({ description: 'Outbound messages accepted in the range' }),
  deliveryRate: z.number().meta({ description: 'Rate over attempted mail, from 0 to 1' }),
  uniqueOpenedMessages: z.number().describe('Delivered messages that were opened at least once'),
  openTrackingEligibleDeliveredMessages: z
    .number()
    .describe('Delivered messages with open tracking'),
  uniqueMessageOpenRate: z
    .number()
    .describe('Share of delivered messages with open tracking that were opened, from 0 to 1'),
  uniqueClickedMessages: z.number().describe('Delivered messages with at least one click'),
  clickTrackingEligibleDeliveredMessages: z
    .number()
    .describe('Delivered messages with click tracking'),
  uniqueMessageClickRate: z
    .number()
    .describe('Share of delivered messages with click tracking that were clicked, from 0 to 1'),
  bounceRate: z.number().meta({ description: 'Rate over attempted mail, from 0 to 1' }),
};

export const channelStatsOutput = z
  .object({ email: z.object(figures).describe('Results of email') })
  .meta({ id: 'ChannelStats', description: 'Results of the messages accepted in a range' });

const counts = {
  emails: z.number().meta({ description: 'Accepted, one for each recipient' }),
  attempted: z.number().meta({ description: 'Sent, bounced or given up; without waiting mail' }),
  sent: z.number().describe('Emails that a server accepted'),
  delivered: z.number().describe('Emails that count as delivered'),
  bounced: z.number().describe('Emails that bounced'),
  failed: z.number().describe('Emails that were given up'),
  complained: z.number().describe('Emails that were reported as spam'),
};

export const timeseriesOutput = z
  .object({
    timezone: z.string().describe('Time zone of the buckets (IANA)'),
    interval: z.enum(['day', 'hour']).describe('Length of a bucket'),
    items: z
      .array(
        z.object({
          start: z.string().describe('Beginning of the bucket'),
          messages: z.number().meta({ description: 'Outbound messages accepted' }),
          ...counts,
          inbound: z.number().meta({ description: 'Messages received' }),
        }),
      )
      .describe('Buckets, oldest first'),
  })
  .meta({
    id: 'Timeseries',
    description: 'Mail by the day or hour of its acceptance, whenever its outcome came',
  });

export const domainStatsOutput = z
  .object({
    items: z
      .array(
        z.object({
          domain: z
            .string()
            .meta({ description: '`*`: all domains without a counter of their own' }),
          ...counts,
          deliveryRate: z.number().describe('Rate over attempted mail, from 0 to 1'),
          bounceRate: z.number().describe('Rate over attempted mail, from 0 to 1'),
        }),
      )
      .describe('Recipient domains, the largest first'),
  })
  .meta({
    id: 'DomainStats',
    description:
      'Mail by recipient domain and day (UTC) of its acceptance. The first 200 domains of ' +
      'a day have a counter each',
  });

export const breakdownOutput = z
  .object({
    by: z.enum(breakdowns).describe('Trait by which the mail is counted'),
    items: z
      .array(
        z.object({
          key: z.string().meta({
            description:
              'Id of the campaign, template or sender, or the domain; `*`: all without a counter of ' +
              'their own, and mail from an address that is no sender',
          }),
          name: z
            .string()
            .nullable()
            .meta({
              description:
                'Name of the campaign or template, address of the sender, or the domain; null for a ' +
                'deleted resource, and for `*`',
            }),
          ...figures,
        }),
      )
      .describe('The most emails first, at most 1,000'),
  })
  .meta({
    id: 'BreakdownStats',
    description:
      'Results of the messages accepted on the days (UTC) of a range, by campaign, template, sender ' +
      'or recipient domain. The first 200 of a day have a counter each. A message to several ' +
      'domains counts for the domain of the first recipient',
  });

export type UsageQuery = z.output<typeof usageQuery>;
export type Usage = z.output<typeof usageOutput>;
export type ChannelStatsQuery = z.output<typeof channelStatsQuery>;
export type ChannelStats = z.output<typeof channelStatsOutput>;
export type TimeseriesQuery = z.output<typeof timeseriesQuery>;
export type Timeseries = z.output<typeof timeseriesOutput>;
export type BreakdownQuery = z.output<typeof breakdownQuery>;
export type BreakdownStats = z.output<typeof breakdownOutput>;
export type DomainStatsQuery = z.output<typeof domainStatsQuery>;
export type DomainStats = z.output<typeof domainStatsOutput>;
