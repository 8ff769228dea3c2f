// The HTTP operations on usage and analytics (specification 4.8).
import { area } from '../../core/api/area.ts';
import {
  breakdownOutput,
  breakdownQuery,
  channelStatsOutput,
  channelStatsQuery,
  domainStatsOutput,
  domainStatsQuery,
  timeseriesOutput,
  timeseriesQuery,
  usageOutput,
  usageQuery,
} from './schema.ts';
import {
  breakdown,
  breakdownCsv,
  channelStats,
  domainStats,
  getUsage,
  timeseries,
} from './stats.ts';

const usage = area('usage', {
  about: 'Emails sent in a month, and their cost',
  resource: 'organization',
});
const at = area('analytics', {
  about: 'Rates of sent mail, by time and by recipient domain',
});

export const usageRoutes = {
  usage: usage.get('/v1/organizations/usage', {
    name: 'getUsage',
    summary: 'Show the emails sent in a month and their cost',
    query: usageQuery,
    output: usageOutput,
    run: (app, { caller, query }) => getUsage(app, caller, query),
  }),
  channels: at.get('/v1/analytics/channel-stats', {
    name: 'getChannelStats',
    summary: 'Show the results of the messages of a time range',
    description:
      '`sent` counts the messages accepted in the range. Rates are over attempted mail, ' +
      'each recipient alone: a waiting message does not count.',
    query: channelStatsQuery,
    output: channelStatsOutput,
    run: (app, { caller, query }) => channelStats(app, caller, query),
  }),
  timeseries: at.get('/v1/analytics/timeseries', {
    name: 'getTimeseries',
    summary: 'Show the mail of a range by day or hour',
    query: timeseriesQuery,
    output: timeseriesOutput,
    run: (app, { caller, query }) => timeseries(app, caller, query),
  }),
  domains: at.get('/v1/analytics/domains', {
    name: 'getDomainStats',
    summary: 'Show the mail of a range by recipient domain',
    query: domainStatsQuery,
    output: domainStatsOutput,
    run: (app, { caller, query }) => domainStats(app, caller, query),
  }),
  breakdown: at.get('/v1/analytics/breakdown', {
    name: 'getBreakdown',
    summary: 'Show the results of a range by campaign, template, sender or domain',
    description: 'The figures are those of the channel stats, for each row.',
    query: breakdownQuery,
    output: breakdownOutput,
    writesCsv: breakdownCsv,
    run: (app, { caller, query }) => breakdown(app, caller, query),
  }),
};
