// Hooks of the event log: the receivers of new events, and the data of message events.
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';

/** A newly recorded event. */
export interface LoggedEvent {
  id: string;
  organizationId: string;
  /** The kind, such as `message.sent`. */
  type: string;
  /** Id of the message or resource: `msg_…`, `dom_…`, `org_…`. */
  subject: string;
  /** Set for a step of a single recipient; null for a step of the message. */
  recipientId: string | null;
  /** Time of the event, ms since 1970. */
  timestamp: number;
}

/** A stored event of a message. */
export interface MessageLogEntry extends LoggedEvent {
  /** Status of the message after the event. */
  status: string;
  facts: Record<string, unknown> | null;
}

/** Returns the `data` of message events, by event id; events of deleted messages are left out. */
export type MessagePresenter = (
  app: App,
  organizationId: string,
  events: readonly MessageLogEntry[],
) => Promise<Map<string, object>>;

/** Receives events in the transaction that records them. */
export interface EventSink {
  /** If set, the sink receives no steps of messages. */
  readonly resourcesOnly?: true;
  /** Tells whether the sink wants events of this organization. Called often: reads only memory. */
  wants(app: App, organizationId: string): boolean;
  /** Receives the wanted events; an error thrown here fails the change that they report. */
  take(app: App, trx: Db, events: readonly LoggedEvent[]): Promise<void>;
}

declare module '../../core/app.ts' {
  interface Hooks {
    /** Sinks that receive each recorded event, in this order. */
    readonly eventSinks: readonly EventSink[];
    readonly presentMessageEvents: MessagePresenter;
  }
}
