// What an engineer writes on the first day with NestJS on Express, every setting at its default: a constant GET and
// a POST with one validated DTO; no database, no authentication, no limiter, no log. The floor Lethe is measured by.
import 'reflect-metadata';
import { Body, Controller, Get, HttpCode, Module, Post, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsObject, IsString, Matches } from 'class-validator';

class SubmitDto {
  @Matches(/^\d{17,20}$/) user_id: string;
  @Matches(/^\d{17,20}$/) guild_id: string;
  @IsString() category: string;
  @IsObject() data: Record<string, unknown>;
}

@Controller()
class StockController {
  @Get('status')
  status() {
    return {
      success: true,
      data: {
        status: 'accepted',
        version: '1.0',
        user_id: '123456789012345678',
        guild_id: '223456789012345678',
        accepted_at: '2026-11-20T12:00:00.000Z',
        revoked_at: null,
      },
    };
  }

  @Post('submit')
  @HttpCode(200)
  submit(@Body() body: SubmitDto) {
    const { user_id, guild_id, category } = body;
    return { success: true, data: { user_id, guild_id, category, stored: true } };
  }
}

@Module({ controllers: [StockController] })
class StockModule {}

async function start(): Promise<void> {
  const app = await NestFactory.create(StockModule, { logger: ['error'] });
  app.useGlobalPipes(new ValidationPipe());
  await app.listen(0, '127.0.0.1');
  process.send?.(await app.getUrl());
}

void start();
