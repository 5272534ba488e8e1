<?php

declare(strict_types=1);

namespace Larder;

/** What not every store can do. What a store does not list in its capabilities() it cannot do. */
enum Capability
{
    /** Items carry tags, and invalidateTags() kills them. */
    case Tags;

    /** Fills and deletes are judged by the token they carry. */
    case Tokens;

    /** One token judges fills of any key (see RequestTokens). */
    case RequestTokens;

    /** Items are read and deleted in one moment (see Takes). */
    case Takes;

    /** Counts under conditions in one moment (see Counts). */
    case Counts;

    /** keys() lists the keys. */
    case Keys;

    /** Other processes of this machine (and, for a server, other machines) see the items. */
    case Sharing;

    /** The items outlive every process that uses the store. */
    case Durability;

    /**
     * Nothing is removed before its time is over: a full store refuses instead. What sessions and locks need.
     * A server may be configured otherwise; its store can tell when it is asked (see MayEvict).
     */
    case Retention;

    /**
     * A clear() leaves nothing that an invalidation of a tag would reach. A namespace has its tags in common with the store that
     * it lies in.
     */
    case WholeClear;

    /** This process never reaches the store. What the store misses is for other processes to deliver. */
    case Absence;
}
