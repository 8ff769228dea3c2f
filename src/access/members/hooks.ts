// Hooks of members: mail to them, and the end of memberships and persons in higher layers.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';
import type { PersonRow } from './queries.ts';

/** An invitation that is mailed. */
export interface InvitationToMail {
  organizationId: string;
  memberId: string;
  email: string;
  role: string;
  /** Name of the invited person; null without one. */
  name: string | null;
  /** Name of the member or key that invites; "operator" for the operator. */
  inviter: string;
  /** End of the link, ms since 1970. */
  expiresAt: number;
}

/** Deletes rows of a person, such as sessions, in the transaction that deletes the person. */
export type EndPerson = (app: App, trx: Db, personId: string) => Promise<void>;

declare module '../../core/app.ts' {
  interface Hooks {
    /**
     * Mails an invitation in the transaction that stores it, and returns the message id. The stored
     * mail lacks the token of the link: `tokenOfInvitation` (invitations.ts) adds it at delivery.
     * @throws a refusal of the caller; RateLimitedError for the sixth mail of a day to an address;
     * ValidationError on `email` for an address that this daemon receives, on `console.signIn.from`
     * or `http.publicUrl` if no mail can be sent
     */
    readonly mailInvitation: (
      app: App,
      trx: Db,
      caller: Caller,
      invitation: InvitationToMail,
    ) => Promise<string>;
    /**
     * Mails a sign-in link to a person after 90 days without a sign-in, on request of an owner.
     * @throws ValidationError on `email` for an address that gets no link; RateLimitedError
     */
    readonly mailReturn: (
      app: App,
      trx: Db,
      person: PersonRow,
      organizationId: string,
    ) => Promise<void>;
    /** Returns the ids in `personIds` of persons with a passkey. */
    readonly personsWithPasskey: (db: Db, personIds: readonly string[]) => Promise<Set<string>>;
    /**
     * Ends the sessions of a member in the organization, before the member is disabled or deleted.
     */
    readonly endPlace: (app: App, trx: Db, memberId: string) => Promise<void>;
    /** Functions that delete further rows of a person, before the person is deleted. */
    readonly personEnds: readonly EndPerson[];
  }
}
