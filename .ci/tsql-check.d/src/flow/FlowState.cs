// What is known at one point of one path through a procedure.
using System;

namespace TsqlCheck
{
    /// <summary>How many transactions are open, and which tables the open one has touched (bits in lock order).</summary>
    struct FlowState : IEquatable<FlowState>
    {
        public readonly int Depth;
        public readonly uint Touched;

        public FlowState(int depth, uint touched)
        {
            Depth = depth;
            Touched = touched;
        }

        public bool Equals(FlowState other) => Depth == other.Depth && Touched == other.Touched;
        public override bool Equals(object other) => other is FlowState state && Equals(state);
        public override int GetHashCode() => Depth * 397 ^ (int)Touched;
    }

    enum Exit
    {
        /// <summary>RETURN or the last statement.</summary>
        Normal,
        /// <summary>THROW that no TRY of the procedure catches.</summary>
        Throw,
    }
}
