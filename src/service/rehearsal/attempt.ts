// The attempts of a rehearsal: each recipient answers by the scenario, and nothing is composed or
// sent.
import type { App } from '../../core/app.ts';
import type { DeliveryRow } from '../../outbound/deliveries/queries.ts';
import {
  type AttemptMessage,
  countsEngagement,
} from '../../outbound/queue/attempting/attempter.ts';
import { captured, type Ending, simulate } from '../../outbound/queue/attempting/endings.ts';
import { fateOf } from './scenario.ts';
import type { Scenario } from './schema.ts';

/** Returns the function that ends each attempt by the scenario, without sending. */
export function rehearsedAttempts(app: App, scenario: Scenario): AttemptMessage {
  const endingOf = (delivery: DeliveryRow): Ending => {
    const fate = fateOf(scenario, delivery.email);
    if (fate === 'delivered') return captured(app, { kind: 'capture', by: 'delivery.mode' });
    return simulate(app, delivery, fate);
  };
  return async (claimed, settle) => {
    const { message, deliveries } = claimed;
    const isTracked = countsEngagement(claimed);
    const isSole = message.delivery_count === 1;
    const facts = { isSole, isTracked, fromEmail: message.from_email };
    await settle(deliveries.map((delivery) => ({ delivery, ...facts, ...endingOf(delivery) })));
  };
}
