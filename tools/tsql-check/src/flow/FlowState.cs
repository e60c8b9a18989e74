// What is known at one point of one path through a procedure.
using System;

namespace TsqlCheck
{
    /// <summary>How many transactions are open, which tables the open one has touched and holds locks in (bits in lock order), and the flags' values.</summary>
    struct FlowState : IEquatable<FlowState>
    {
        public readonly int Depth;
        public readonly uint Touched;
        public readonly uint Held;
        public readonly Flags Flags;

        FlowState(int depth, uint touched, uint held, Flags flags)
        {
            Depth = depth;
            Touched = touched;
            Held = held;
            Flags = flags;
        }

        public static FlowState AtEntry(int depth) => new FlowState(depth, 0, 0, Flags.None);

        /// <summary>The end of the outermost transaction gives its locks back.</summary>
        public FlowState WithDepth(int depth) => depth == 0 ? new FlowState(0, 0, 0, Flags) : new FlowState(depth, Touched, Held, Flags);

        public FlowState WithTables(uint touched, uint held) => new FlowState(Depth, Touched | touched, Held | held, Flags);

        public FlowState WithFlags(Flags flags) => new FlowState(Depth, Touched, Held, flags);

        public bool Equals(FlowState other) =>
            Depth == other.Depth && Touched == other.Touched && Held == other.Held && Flags.Equals(other.Flags);

        public override bool Equals(object other) => other is FlowState state && Equals(state);
        public override int GetHashCode() => Depth * 397 ^ (int)Touched ^ Flags.GetHashCode();
    }

    enum Exit
    {
        /// <summary>RETURN or the last statement.</summary>
        Normal,
        /// <summary>THROW that no TRY of the procedure catches.</summary>
        Throw,
    }
}
