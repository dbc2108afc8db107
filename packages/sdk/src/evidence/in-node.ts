import { createHash, createPublicKey, verify } from 'node:crypto';
import type { Check, Question, Reply } from './check';

/**
 * The result of a check with the cryptography of Node.js.
 * @internal
 */
export function inNode<T>(check: Check<T>): T {
  let step = check.next();
  while (step.done !== true) step = check.next(replyTo(step.value));
  return step.value;
}

function replyTo(question: Question): Reply {
  if (question.ask === 'sha256') return createHash('sha256').update(question.content).digest();
  const key = createPublicKey({ key: { ...question.key }, format: 'jwk' });
  return verify(null, question.content, key, question.signature);
}
