// The page of a domain for a colleague without a key, at `/domains/{token}`: the domain, and the
// records to publish. An unknown link gets the same answer as an ended link.

import type { App } from '../../../src/core/app.ts';
import { readSharedDomain } from '../../../src/identity/domains/links.ts';
import { perApp } from '../../../src/platform/runtime/per-app.ts';
import { FailedLogins } from '../../failed-logins.ts';
import { visitorOf } from '../../http/visitor.ts';
import { html, inClock } from '../html.ts';
import { recordsTable, sharedFaults } from '../pages/domains/domain-records.ts';
import { time } from '../parts/times.ts';
import { type Door, plainAnswer, sentence } from '../site.ts';

const mostVisitsPerMinute = 60;

/** Visits of the last minute, by network. */
const visitsOf = perApp<App, FailedLogins>(
  ({ clock }) => new FailedLogins(clock, mostVisitsPerMinute),
);

const noStore = { 'cache-control': 'no-store' };

export const domainLinkPage: Door = async (site, request, { token = '' }) => {
  const { app, workload } = site;
  if (visitsOf(app).count(visitorOf(app, request.raw))) {
    const answer = sentence(site, 429, 'Too many visits', 'Try it again in a minute.');
    return { ...answer, headers: { 'retry-after': '60' } };
  }
  return workload.begin(async () => {
    const shared = await readSharedDomain(app, token);
    if (!shared) {
      const text = 'It ends after 7 days, or earlier by hand. Ask whoever sent it for a new one.';
      return sentence(site, 404, 'This link does not work', text);
    }
    const { domain, records, expiresAt } = shared;
    const body = html`<p>Please publish these DNS records. The names are without the domain, as most providers want them.</p>
      ${sharedFaults(records)}
      ${recordsTable(records, domain)}
      <p class="soft">This page works until ${time(expiresAt)} (UTC).</p>`;
    const drawn = inClock({ timezone: 'UTC', now: app.clock.now() }, body);
    return plainAnswer(
      site,
      200,
      { title: `DNS records of ${domain}`, body: drawn, isWide: true },
      noStore,
    );
  });
};
