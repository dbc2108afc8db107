import { All, Controller, type ExecutionContext, Get, Post } from '@nestjs/common';
import { accessOf, ALL_SCOPES, EvenWhile, Public, RequiresScope, scopeBits, scopesOf } from './scopes';

@Controller()
class Base {
  @Get() get(): void {}
  @Post() post(): void {}
  @All() all(): void {}
  @Post() @RequiresScope('erase') erase(): void {}
  @Post() @EvenWhile('suspended', 'low disk') open(): void {}
  @Post() @Public() public(): void {}
}

@Controller()
@RequiresScope('admin')
class Narrow extends Base {}

function access(controller: typeof Base, name: keyof Base) {
  const context = { getClass: () => controller, getHandler: () => Base.prototype[name] };
  return accessOf(context as unknown as ExecutionContext);
}

const CLOSED = { isUnknown: false, isPublic: false, isOfOperator: false };

describe('the scope of a route', () => {
  it.each([
    ['get', ['read'], true, false],
    ['post', ['write'], false, false],
    ['all', ['write'], false, false],
    ['erase', ['erase'], true, false],
    ['open', ['write'], true, true],
  ] as const)('of %s is %j', (name, scopes, whileSuspended, onLowDisk) => {
    const opened = { whileSuspended, onLowDisk };
    const found = { ...CLOSED, scopes, bits: scopeBits(scopes), ...opened };
    for (let count = 0; count < 2; count++) expect(access(Base, name)).toEqual(found);
  });

  it('is that of its controller where it has none, also for a method that two controllers share', () => {
    expect(access(Base, 'post').scopes).toEqual(['write']);
    expect(access(Narrow, 'post').scopes).toEqual(['admin']);
    expect(access(Narrow, 'erase').scopes).toEqual(['erase']);
  });

  it('does not matter where the route is public', () => {
    expect(access(Base, 'public').isPublic).toBe(true);
  });

  it('is a bit of all scopes', () => {
    expect(ALL_SCOPES).toBe(15);
    expect(scopesOf(scopeBits(['admin', 'read']))).toEqual(['read', 'admin']);
  });
});
