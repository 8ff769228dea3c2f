// The address of a person, in the form that is stored, compared and mailed. Unicode letters are
// never folded into ASCII: else mail for a person could reach a mailbox with a similar name. Many
// scripts have letters that Unicode itself turns into ASCII (the Kelvin sign), so the text is
// judged as it was typed.
import { z } from 'zod';
import { parseAddress } from '../../platform/net/address.ts';

const longest = 320;
const asciiOnly = 'must have only ASCII characters before the @';
const notAnAddress = 'is not a valid email address, such as ann@example.com';

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Returns the part before the at sign. */
function localPartOf(text: string): string {
  return text.slice(0, Math.max(0, text.lastIndexOf('@')));
}

/**
 * Returns the normal form: the domain in A-labels and lower case, the ASCII letters of the local
 * part in lower case. Null for an invalid address, or for letters beyond ASCII before the at sign.
 */
export function normalAddress(text: string): string | null {
  if (text.length > longest || !isAscii(localPartOf(text))) return null;
  const parsed = parseAddress(text.normalize('NFC'));
  return parsed && `${parsed.localPart.toLowerCase()}@${parsed.domain}`;
}

/** The address of a person in a request; the output is the normal form. */
export const personAddress = z
  .string()
  .max(longest)
  .transform((text, context) => {
    const email = normalAddress(text);
    if (email !== null) return email;
    const message = isAscii(localPartOf(text)) ? notAnAddress : asciiOnly;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .meta({ format: 'email' });
