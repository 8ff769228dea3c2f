// The way of a message over the network: composed and signed once, then handed to the server of each of
// its envelopes. Knows no store and no queue, so that it may run on a thread of its own
// (carrier-thread.ts); tests run it here, where they replace clock and network.
import type { App } from '../../app.ts';
import { Composer } from '../../mime/composer.ts';
import type { ComposeRequest } from '../../mime/input.ts';
import type { SignedMessage } from '../../mime/sign.ts';
import type { KeptPolicies } from '../../smtp/mta-sts-fetch.ts';
import type { Outcome } from '../../smtp/outcome.ts';
import type { ProviderRules } from '../../smtp/providers.ts';
import type { NetworkRoute } from '../../smtp/route.ts';
import type { DsnRequest } from '../../smtp/transaction.ts';
import { createTransport, type Transport } from '../../smtp/transport.ts';
import type { Lanes } from '../lanes/lanes.ts';

/** Recipients who share a route; in direct mode, those of one domain. */
export interface Envelope {
  route: NetworkRoute;
  /** Whose mail it is. */
  organizationId: string;
  /** Return path without angle brackets; empty for the null path. */
  from: string;
  recipients: readonly string[];
  /** A line of the header that is this envelope's alone, with its CRLF. */
  copyField?: string | null;
  /** Asked for where the server offers DSN. */
  dsn?: DsnRequest;
}

/** One message and everybody that it goes to over the network. */
export interface Mailing {
  request: ComposeRequest;
  envelopes: readonly Envelope[];
}

export interface Carrier {
  /**
   * For each envelope, one outcome per recipient in their order. None rejects for the network. All
   * reject with ComposeError, or where a key does not fit: nothing was sent then. Those under way
   * reject when the thread of the carrier ends: whether they were sent is not known then.
   */
  carry(mailing: Mailing): Promise<Outcome[]>[];
  /** Cuts what is under way: its outcomes are told. */
  close(): Promise<void>;
}

/** Delivers to each of the envelopes as soon as the message is made. */
export function deliverAll(
  transport: Transport,
  making: Promise<SignedMessage>,
  envelopes: readonly Envelope[],
): Promise<Outcome[]>[] {
  return envelopes.map(async (envelope) => {
    const message = await making;
    return transport.deliver({ ...envelope, ...message, data: copyFor(envelope, message) });
  });
}

/**
 * The message with its envelope's own field, which the signatures leave out: others for each domain
 * would cost 30 to 300 µs, and the token in the field proves itself.
 */
function copyFor({ copyField }: Envelope, { data, headerAt }: SignedMessage): Buffer[] {
  if (!copyField) return data;
  const field = Buffer.from(copyField, 'latin1');
  const [first, ...rest] = data;
  if (!first || headerAt === 0) return [field, ...data];
  if (first.length === headerAt) return [first, field, ...rest];
  return [first.subarray(0, headerAt), field, first.subarray(headerAt), ...rest];
}

/** What a carrier goes by, and what it reports to. */
export interface CarrierParts {
  providers: ProviderRules;
  lanes: Pick<Lanes, 'ruleFor' | 'learn'>;
  policies: KeptPolicies;
}

export type OpenCarrier = (app: App, parts: CarrierParts) => Carrier;

/** A carrier on this thread, with the clock, the randomness and the network of the app. */
export const openCarrierHere: OpenCarrier = (app, { lanes, policies }) => {
  const composer = new Composer();
  const transport = createTransport({ ...app, lanes, policies });
  return {
    carry: ({ request, envelopes }) => deliverAll(transport, composer.compose(request), envelopes),
    async close() {
      await transport.close();
      await composer.close();
    },
  };
};
