// Questions to a person at a terminal, on standard error. A permanent removal asks first; without a
// terminal it needs `--yes`. Only this file imports @inquirer/prompts.
import { DeclinedError, InterruptedError, UsageError } from '../output/failure.ts';

/** Returns true if standard input and standard error, which shows questions, are terminals. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Returns the answer. @throws InterruptedError with the text `standing` on Ctrl-C */
function answerOf<T>(asked: Promise<T>, standing: string): Promise<T> {
  return asked.catch((error: unknown) => {
    const isStopped = error instanceof Error && error.name === 'ExitPromptError';
    throw isStopped ? new InterruptedError(standing) : error;
  });
}

/**
 * Returns once the person agrees, or at once with `--yes`. `advice` says how to agree without a
 * terminal.
 * @throws UsageError without a terminal; DeclinedError after a refusal; InterruptedError on Ctrl-C.
 */
export async function confirmed(
  question: string,
  yes: boolean,
  advice = 'add --yes to confirm.',
): Promise<void> {
  if (yes) return;
  if (!canAsk()) {
    throw new UsageError(`${question} There is no terminal to ask on: ${advice}`);
  }
  const { confirm } = await import('@inquirer/prompts');
  const asked = confirm({ message: question, default: false }, { output: process.stderr });
  if (!(await answerOf(asked, 'nothing was changed'))) {
    throw new DeclinedError('nothing was changed');
  }
}

/** Returns true if the terminal can show a text and then ask for a decision. */
export function canShowAndAsk(): boolean {
  return canAsk() && process.stdout.isTTY === true;
}

/** A letter to press, and the value that it stands for. */
interface Choice<Value> {
  key: 'a' | 'e' | 'q' | 'r' | 's';
  name: string;
  value: Value;
}

/** Notice after Ctrl-C: earlier answers stay in force. */
const standing = 'stopped; decisions already made stay';

/**
 * Asks for a choice by letter; Enter alone lists the choices.
 * @throws InterruptedError.
 */
export async function chosen<const Value>(
  message: string,
  choices: readonly Choice<Value>[],
): Promise<Value> {
  const { expand } = await import('@inquirer/prompts');
  return answerOf(expand<Value>({ message, choices }, { output: process.stderr }), standing);
}

/**
 * Asks for a line of text, which may be empty.
 * @throws InterruptedError.
 */
export async function typedLine(message: string): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  return (await answerOf(input({ message }, { output: process.stderr }), standing)).trim();
}
