// The tracking host of a domain, with the state of the certificate.
import { customTrackingRoutes } from '../../../../src/outbound/tracking/custom/routes.ts';
import type { CustomTracking } from '../../../../src/outbound/tracking/custom/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked } from '../../page.ts';
import { calls } from '../../parts/calls.ts';
import { facts } from '../../parts/facts.ts';
import { button, field, form } from '../../parts/form.ts';
import { emptyState } from '../../parts/table.ts';
import { state } from '../../states.ts';

/** Draws the tracking host, or the form that enables a host. */
export function trackingPart(asked: Asked, tracking: CustomTracking | null): Part {
  const mayWrite = asked.may('tracking:write');
  const host = tracking?.customTracking;
  if (!host) {
    return together(
      emptyState('Links of tracked mail lead to the public URL of the service.'),
      mayWrite &&
        form(
          asked,
          'enableTracking',
          'Enable a tracking host',
          field({
            name: 'label',
            label: 'Label before the domain',
            value: 'links',
            isRequired: true,
          }),
        ),
    );
  }
  const records = Object.values(host.dnsRecords).filter(({ required }) => required);
  return together(
    html`<p>${state(host.status)}</p>`,
    facts(host, [
      ['Host', 'hostname'],
      ['Certificate', 'sslStatus'],
      ['Problem of the certificate', 'certificate.reason.message'],
      ['Expires', 'certificate.expiresAt'],
      ['Checked', 'certificate.lastCheckedAt'],
      ['Next check', 'certificate.nextCheckAt'],
      ['Problem', 'verificationErrors'],
      ['Links end', 'teardownScheduledAt'],
    ]),
    records.map(
      ({ name, type, value }) =>
        html`<article class="mail"><p><strong>${type} ${name}</strong></p><pre data-copy="">${value}</pre></article>`,
    ),
    mayWrite &&
      html`<div class="row">
        ${button(asked, { action: 'recheckTracking', label: 'Check the host now' })}
        ${button(asked, { action: 'disableTracking', label: 'Disable the host' })}
      </div>`,
  );
}

export const trackingActions: Readonly<Record<string, Action>> = {
  enableTracking: calls(customTrackingRoutes.enable, {
    body: ({ label = '' }) => ({ label: label.trim() }),
  }),
  disableTracking: calls(customTrackingRoutes.disable),
  recheckTracking: calls(customTrackingRoutes.recheck),
};
