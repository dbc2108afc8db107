import { Injectable } from '@nestjs/common';
import { EventEmitter2, OnEvent } from '@nestjs/event-emitter';

type EventClass<E> = abstract new (...args: never[]) => E;

/**
 * Events between modules, published inside the transaction of the act. Listeners are awaited one after the other and
 * write only through `event.tx`. An error of a listener rolls the whole act back, so that state, audit event and queued
 * webhook are stored together or not at all.
 */
@Injectable()
export class DomainEvents {
  constructor(private readonly emitter: EventEmitter2) {}

  /** @throws the error of the first listener that fails. */
  async publish(event: object): Promise<void> {
    for (const listener of this.emitter.listeners(event.constructor.name)) {
      await (listener as (event: object) => unknown)(event);
    }
  }
}

/** Subscribes a method to an event class. Its errors reach the publisher; `@OnEvent` alone suppresses them. */
export const OnDomainEvent = <E>(event: EventClass<E>): MethodDecorator =>
  OnEvent(event.name, { suppressErrors: false });
