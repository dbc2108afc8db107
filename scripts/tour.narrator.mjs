const WIDTH = 100;

/** The faults of `actual` against a pattern, a check or an equal value; in objects only named fields are compared. */
function faultsOf(expected, actual, path) {
  if (expected instanceof RegExp)
    return expected.test(String(actual)) ? [] : [`${path} does not match ${expected}`];
  if (typeof expected === 'function') return expected(actual) ? [] : [`${path} is ${JSON.stringify(actual)}`];
  if (Array.isArray(expected) && expected.length !== actual?.length)
    return [`${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
  if (typeof expected !== 'object' || expected === null)
    return Object.is(expected, actual)
      ? []
      : [`${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
  return Object.entries(expected).flatMap(([key, value]) => faultsOf(value, actual?.[key], `${path}.${key}`));
}

function shortened(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}

function wrapped(text, indent) {
  const lines = [''];
  for (const word of text.split(' ')) {
    if (lines.at(-1).length + word.length >= WIDTH - indent.length) lines.push('');
    lines[lines.length - 1] += `${lines.at(-1) === '' ? '' : ' '}${word}`;
  }
  return lines.map((line) => indent + line).join('\n');
}

/** Prints a tour step by step and ends it at the first answer that does not fit the contract. */
export class Narrator {
  constructor(baseUrl) {
    this.baseUrl = baseUrl;
    this.steps = 0;
  }

  step(what) {
    console.log(`\n${String(++this.steps).padStart(2)}. ${what}`);
    this.current = what;
  }

  why(text) {
    console.log(wrapped(text, '    '));
  }

  /** Sends one request, prints it with its answer, and returns the body if it fits `expected`. */
  async call(method, path, { key, body, expected }) {
    console.log(`    ${method} ${path}${body === undefined ? '' : `  ${shortened(body)}`}`);
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    const answer = await response.json();
    console.log(`    ${response.status}  ${shortened(answer)}`);
    const { status, ...rest } = expected;
    this.require(
      { status, success: status < 400, ...rest },
      { status: response.status, ...answer },
      'answer',
    );
    this.require(/^\d+$/, response.headers.get('x-ratelimit-remaining'), 'X-RateLimit-Remaining');
    this.require(/./, response.headers.get('x-request-id'), 'X-Request-Id');
    return answer.data;
  }

  require(expected, actual, what) {
    const faults = faultsOf(expected, actual, what);
    if (faults.length > 0)
      throw new Error(`in step ${this.steps}, "${this.current}":\n  ${faults.join('\n  ')}`);
  }
}
