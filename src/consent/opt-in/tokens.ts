// Tokens of the links that confirm the subscription to a group. A token holds the data of the mail,
// encrypted. The time of the mail keeps the links of two mails apart.
import type { App } from '../../core/app.ts';
import { exactly } from '../../core/root-keys/token-text.ts';

const purpose = 'confirm';

/** Data of a link: contact, group and mail. */
export interface Asked {
  organizationId: string;
  groupId: string;
  contactId: string;
  /** Time of the mail, ms since 1970. */
  mailedAt: number;
  /** Address of the mail, in the normal form of src/platform/net/address.ts. */
  address: string;
}

export function confirmToken(app: App, asked: Asked): string {
  const { organizationId, groupId, contactId, mailedAt, address } = asked;
  return app.secrets.seal(
    purpose,
    [organizationId, groupId, contactId, mailedAt, address].join(' '),
    mailedAt,
  );
}

/** Reads a token. Returns null for a foreign or truncated token. */
export function readConfirmToken(app: App, token: string): Asked | null {
  const timeOf = (payload: string) => exactly(Number(payload.split(' ')[3]));
  const parts = app.secrets.unseal(purpose, token, timeOf)?.split(' ') ?? [];
  const [organizationId, groupId, contactId, mailedAt, ...address] = parts;
  if (!organizationId || !groupId || !contactId || !mailedAt || address.length === 0) return null;
  return {
    organizationId,
    groupId,
    contactId,
    mailedAt: Number(mailedAt),
    address: address.join(' '),
  };
}
