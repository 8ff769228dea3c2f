// HTML values in text parts. The filter `raw` leaves HTML unchanged in HTML, and returns plain text
// elsewhere.
import { templateText } from '../template-text.ts';

/** Most characters of a value that are converted; the rest is cut off. */
const mostCharacters = 64 * 1024;

/** Returns the visible text of an HTML value. */
export function rawAsText(html: string): string {
  return templateText(html.slice(0, mostCharacters)).trimEnd();
}
