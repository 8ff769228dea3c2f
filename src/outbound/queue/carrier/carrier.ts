// Carries a message over the network: composes and signs it once, then sends it to the server of
// each envelope. Knows neither store nor queue, so that it can run on a separate thread
// (carrier-thread.ts). Tests run it on the main thread, with their own clock and network.
import type { App } from '../../../core/app.ts';
import { Composer } from '../../../mail/mime/composer.ts';
import type { SignedMessage } from '../../../mail/mime/dkim/sign.ts';
import type { ComposeRequest } from '../../../mail/mime/input.ts';
import type { KeptPolicies } from '../../../mail/smtp/mta-sts-fetch.ts';
import type { Outcome } from '../../../mail/smtp/outcome.ts';
import { connectionsOf, type Providers } from '../../../mail/smtp/providers.ts';
import type { NetworkRoute } from '../../../mail/smtp/route.ts';
import type { DsnRequest } from '../../../mail/smtp/session/transaction.ts';
import { createTransport, type Transport } from '../../../mail/smtp/transport.ts';
import type { Portion } from '../../../platform/runtime/fairness/portion.ts';
import type { Lanes } from '../lanes/lanes.ts';
import { withCopyField } from './copy.ts';

/** Recipients that share a route; in direct mode, the recipients of a domain. */
export interface Envelope {
  route: NetworkRoute;
  /** The organization that sends the mail. */
  organizationId: string;
  /** Return path without angle brackets; empty for the null path. */
  from: string;
  recipients: readonly string[];
  /** Header line added only to the copy of this envelope, including the CRLF. */
  copyField?: string | null;
  /** Requested from servers that offer DSN. */
  dsn?: DsnRequest;
}

/** A message and all recipients over the network. */
export interface Mailing {
  request: ComposeRequest;
  envelopes: readonly Envelope[];
}

export interface Carrier {
  /**
   * Returns, for each envelope, an outcome for each recipient, in their order. A network fault is
   * an outcome. All promises reject with ComposeError, or if a key does not fit; then no mail was
   * sent. Envelopes in flight reject if the thread of the carrier ends; then nobody knows whether
   * they were sent.
   */
  carry(mailing: Mailing): Promise<Outcome[]>[];
  /** Applies replaced rules of providers to mail that is carried from now on. */
  changeRules(): void;
  /**
   * Applies this daemon's part of the limits, for `forMs`. After that the daemon has no part,
   * unless a newer call came before.
   */
  divide(portion: Portion, forMs: number): void;
  /** Cuts mail under way; the outcomes are reported. */
  close(): Promise<void>;
}

/** Delivers to each envelope once the message is composed. */
export function deliverAll(
  transport: Transport,
  making: Promise<SignedMessage>,
  envelopes: readonly Envelope[],
): Promise<Outcome[]>[] {
  return envelopes.map(async (envelope) => {
    const message = await making;
    const { copyField } = envelope;
    const { sevenBit } = message;
    const encoded = async () => {
      const made = (await sevenBit?.()) ?? null;
      return made && { ...made, data: withCopyField(made, copyField) };
    };
    return transport.deliver({
      ...envelope,
      ...message,
      data: withCopyField(message, copyField),
      ...(sevenBit && { sevenBit: encoded }),
    });
  });
}

/** Rules and receivers of reports that a carrier needs. */
export interface CarrierParts {
  providers: Providers;
  lanes: Pick<Lanes, 'ruleFor' | 'learn' | 'exceeded'>;
  policies: KeptPolicies;
}

export type OpenCarrier = (app: App, parts: CarrierParts) => Carrier;

/** Creates a carrier on this thread, with the clock, the randomness and the network of the app. */
export const openCarrierHere: OpenCarrier = (app, { lanes, policies, providers }) => {
  const composer = new Composer();
  const transport = createTransport({ ...app, lanes, policies });
  return {
    carry: ({ request, envelopes }) => deliverAll(transport, composer.compose(request), envelopes),
    // Does nothing: the lanes on this thread read the rules in force for each mail.
    changeRules() {},
    divide() {
      transport.changeLimits((lane) => connectionsOf(providers, lane));
      lanes.exceeded(transport.surplus());
    },
    async close() {
      await transport.close();
      await composer.close();
    },
  };
};
